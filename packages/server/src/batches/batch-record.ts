// A batch as it is kept, its states, and the transitions between them.
//
//   validating ──the file is right──▶ in_progress ──all have a result──▶ finalizing ──▶ completed
//     │     │                              │
//     │     └──────────cancel──────────────┴──────────▶ cancelling ──▶ cancelled
//     └──the file is wrong──▶ failed
//
// After a restart, a batch continues in the state that it had.
import type { Batch, BatchError, BatchStatus } from "@ingle/protocol";

/** Whose key a batch computes with. */
interface BatchSender {
  /** The digest of the key; null without one. */
  readonly digest: string | null;
  /** The name of the key; null: it has none. */
  readonly name: string | null;
}

export interface BatchRecord {
  /** As routes return it. */
  readonly batch: Batch;
  readonly owner: string;
  readonly sender: BatchSender;
  /** The ids of the files that its results are written to. */
  readonly outputId: string;
  readonly errorId: string;
}

const next: Record<BatchStatus, readonly BatchStatus[]> = {
  validating: ["in_progress", "failed", "cancelling"],
  in_progress: ["finalizing", "cancelling"],
  finalizing: ["completed"],
  cancelling: ["cancelled"],
  failed: [],
  completed: [],
  cancelled: [],
};

export function isFinal({ batch }: BatchRecord): boolean {
  return next[batch.status].length === 0;
}

/** Whether it can still be cancelled. */
export function canCancel({ batch }: BatchRecord): boolean {
  return next[batch.status].includes("cancelling");
}

/** The record in another state, which it entered at `now` in Unix seconds. `more` are fields that change with it. */
export function moved(
  record: BatchRecord,
  status: BatchStatus,
  { now, ...more }: Partial<Batch> & { now: number },
): BatchRecord {
  const { batch } = record;
  if (!next[batch.status].includes(status))
    throw new Error(`A batch cannot go from ${batch.status} to ${status}.`);
  return { ...record, batch: { ...batch, ...more, status, [`${status}_at`]: now } };
}

/** The field of a batch whose input file is refused. */
export function errorList(data: BatchError[]): Pick<Batch, "errors"> {
  return { errors: { object: "list", data } };
}
