// The states of one model, and the transitions between them.
//
//     ┌────────────── nobody waits any more ─┐
//     ▼                                      │
//  available ─────────────────────────▶ preparing ──▶ loading ──▶ loaded ◀──▶ draining     (its place is wanted)
//     ▲  ▲                                   │           │                       │
//     │  └──── cooled down ──── failed ◀─────┴───────────┘                       ▼
//     └──────────────────────────────────────────────────────────────────── unloading
//
// Every state may become closed, and nothing comes after that.
import type { ModelEntry } from "@ingle/protocol";

export type ModelState =
  /** Not in memory; the next request will load it. `failure`: why its last load failed, if it did. */
  | { kind: "available"; failure?: unknown }
  /** Its file is being read or downloaded, or it waits for memory. */
  | { kind: "preparing" }
  /** `progress` is 0 … 1. */
  | { kind: "loading"; progress: number }
  | { kind: "loaded"; loadedAt: Date }
  /** Loaded; grants no new leases, and is freed after the last one. `isUnloadRequested`: by a management request. */
  | { kind: "draining"; loadedAt: Date; isUnloadRequested: boolean }
  | { kind: "unloading" }
  /** Only a management request loads it again before `until`. */
  | { kind: "failed"; error: unknown; until: Date }
  | { kind: "closed" };

export type ModelStateKind = ModelState["kind"];

const movesFrom: Record<ModelStateKind, readonly ModelStateKind[]> = {
  available: ["preparing", "closed"],
  preparing: ["loading", "available", "failed", "closed"],
  loading: ["loading", "loaded", "failed", "closed"],
  loaded: ["draining", "closed"],
  draining: ["draining", "loaded", "unloading", "closed"],
  unloading: ["available", "closed"],
  failed: ["available", "closed"],
  closed: [],
};

/** Returns the next state. A transition that is not in the diagram is a bug. */
export function moved(from: ModelState, to: ModelState): ModelState {
  if (!movesFrom[from.kind].includes(to.kind))
    throw new Error(`A model that is ${from.kind} cannot become ${to.kind}.`);
  return to;
}

/** Whether the model can compute requests. */
export function isInMemory({ kind }: ModelState): boolean {
  return kind === "loaded" || kind === "draining";
}

/** Why the last load failed; undefined if it did not, or if the model is being loaded again. */
export function lastFailure(state: ModelState): unknown {
  if (state.kind === "failed") return state.error;
  return state.kind === "available" ? state.failure : undefined;
}

/** The state shown by `GET /v1/models`. */
export function shownStatus(state: ModelState): ModelEntry["status"] {
  if (isInMemory(state)) return "loaded";
  return state.kind === "preparing" || state.kind === "loading" ? "loading" : "available";
}

/** Whether the model takes memory or is about to. */
export function takesMemory({ kind }: ModelState): boolean {
  return kind === "loading" || kind === "loaded" || kind === "draining" || kind === "unloading";
}

/** Whether the model is or will be loaded with its current settings, so that they cannot change. */
export function areSettingsInUse({ kind }: ModelState): boolean {
  return kind === "preparing" || kind === "loading" || kind === "loaded" || kind === "draining";
}

/** 0 … 1; 0 before its weights are read. */
export function loadProgress(state: ModelState): number {
  return state.kind === "loading" ? state.progress : 0;
}
