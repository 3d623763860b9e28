// The states of one model in the house, and the moves between them. Kept by model-slot.ts.
//
//     ┌────────────── nobody waits any more ─┐
//     ▼                                      │
//  available ─────────────────────────▶ preparing ──▶ loading ──▶ loaded ◀──▶ draining     (its place is wanted)
//     ▲  ▲                                   │           │                       │
//     │  └──── cooled down ──── failed ◀─────┴───────────┘                       ▼
//     └──────────────────────────────────────────────────────────────────── unloading
//
// Every state may become closed, and nothing comes after that.

export type ModelState =
  /** Not in memory; the next request brings it. */
  | { kind: "available" }
  /** Its file is looked at or fetched, or it waits for room. */
  | { kind: "preparing" }
  /** `progress` is 0 … 1. */
  | { kind: "loading"; progress: number }
  | { kind: "loaded"; loadedAt: Date }
  /** Loaded, and freed as soon as the last lease is back: it grants no new ones. `isDismissed`: by an order. */
  | { kind: "draining"; loadedAt: Date; isDismissed: boolean }
  | { kind: "unloading" }
  /** Nobody tries again before `until`, except by an order. */
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

/** The next state. A move that is not in the drawing is a mistake of ours. */
export function moved(from: ModelState, to: ModelState): ModelState {
  if (!movesFrom[from.kind].includes(to.kind))
    throw new Error(`A model that is ${from.kind} cannot become ${to.kind}.`);
  return to;
}

/** Whether the model can answer, or does. */
export function isInMemory({ kind }: ModelState): boolean {
  return kind === "loaded" || kind === "draining";
}

/** Whether the model takes memory, or is about to. */
export function takesMemory({ kind }: ModelState): boolean {
  return kind === "loading" || kind === "loaded" || kind === "draining" || kind === "unloading";
}

/** Whether how the model is loaded is settled. */
export function isSettled({ kind }: ModelState): boolean {
  return kind === "preparing" || kind === "loading" || kind === "loaded" || kind === "draining";
}

/** 0 … 1; 0 before its weights are read. */
export function progressOf(state: ModelState): number {
  return state.kind === "loading" ? state.progress : 0;
}
