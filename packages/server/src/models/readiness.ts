// Whether requests are answered now, for probes: one word for all models together. Used by registry.ts.
import type { Readiness } from "@ingle/protocol";
import { progressOf, type ModelState } from "./slot/model-state.ts";

/** What a probe is told. */
export interface ServerReadiness extends Readiness {
  isReady: boolean;
}

interface Candidate {
  readonly id: string;
  readonly state: ModelState;
  readonly usedAt: number;
  readonly counts: { readonly loads: number };
}

/**
 * A loaded model is enough, and so is one that the next request loads, once a first one was loaded: before that a server
 * has still to show that it can.
 */
export function readinessOf(models: readonly Candidate[]): ServerReadiness {
  const lastUsed = models.toSorted((a, b) => b.usedAt - a.usedAt);
  const hasStarted = models.some(({ counts }) => counts.loads > 0);
  const find = (...kinds: ModelState["kind"][]): Candidate | undefined =>
    lastUsed.find(({ state }) => kinds.includes(state.kind));

  const loaded = find("loaded", "draining");
  if (loaded !== undefined) return { status: "ok", isReady: true, model: loaded.id };
  const coming = find("loading", "preparing");
  if (coming !== undefined) {
    const progress = progressOf(coming.state);
    return { status: "loading", isReady: hasStarted, model: coming.id, progress };
  }
  const idle = find("available", "unloading");
  if (idle !== undefined) return { status: "idle", isReady: true, model: idle.id };
  const failed = find("failed");
  if (failed !== undefined) return { status: "failed", isReady: false, model: failed.id };
  return { status: "empty", isReady: false };
}
