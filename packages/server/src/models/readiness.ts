// Decides whether the server can take requests now, for probes: one status for all models together.
import type { Readiness } from "@ingle/protocol";
import { loadProgress, type ModelState } from "./slot/model-state.ts";

/** The status, and whether a readiness probe succeeds. */
export interface ServerReadiness extends Readiness {
  isReady: boolean;
}

interface Candidate {
  readonly id: string;
  readonly state: ModelState;
  readonly lastUse: number;
  readonly engine: { readonly isRestarting: boolean };
  readonly counts: { readonly loads: number };
}

/**
 * A server is ready if it has a loaded model, or one that the next request will load. While a model loads, it is ready only if it
 * has loaded one before; until then, it has not shown that it can. A model whose engine crashed may crash again, so a server that
 * only has such a model is not ready until the engine is back.
 */
export function decideReadiness(models: readonly Candidate[]): ServerReadiness {
  const lastUsed = models.toSorted((a, b) => b.lastUse - a.lastUse);
  const hasStarted = models.some(({ counts }) => counts.loads > 0);
  const find = (...kinds: ModelState["kind"][]): Candidate | undefined =>
    lastUsed.find(({ state, engine }) => kinds.includes(state.kind) && !engine.isRestarting);

  const loaded = find("loaded", "draining");
  if (loaded !== undefined) return { status: "ok", isReady: true, model: loaded.id };
  const restarting = lastUsed.find(({ engine }) => engine.isRestarting);
  if (restarting !== undefined) return { status: "restarting", isReady: false, model: restarting.id };
  const coming = find("loading", "preparing");
  if (coming !== undefined) {
    const progress = loadProgress(coming.state);
    return { status: "loading", isReady: hasStarted, model: coming.id, progress };
  }
  const idle = find("available", "unloading");
  if (idle !== undefined) return { status: "idle", isReady: true, model: idle.id };
  const failed = find("failed");
  if (failed !== undefined) return { status: "failed", isReady: false, model: failed.id };
  return { status: "empty", isReady: false };
}
