// The batches of a server: makes them, works on a few at a time, and continues after a restart with those that had not ended.
import { randomUUID } from "node:crypto";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openBatchesMax, type Batch, type BatchRequest } from "@ingle/protocol";
import { toUnixSeconds } from "../seconds.ts";
import { WireError } from "../wire-error.ts";
import type { BatchRecord } from "./batch-record.ts";
import { BatchRun, type BatchRunOptions } from "./batch-run.ts";
import { BatchStore, type ListPage, type PageQuery } from "./batch-store.ts";
import { newFileId, StoredFiles } from "./stored-files.ts";
import { noUsage } from "./tally.ts";

/** Batches that are worked on at once, of all keys together. The others wait. */
const runsMax = 4;
/** Milliseconds until a batch is tried again that could not go on, because the disk was full for example. */
const retryMs = 60_000;

interface BatchesOptions extends Pick<BatchRunOptions, "send" | "places" | "ready"> {
  readonly folder: string;
  /** Maximum size of all files together, in bytes. */
  readonly bytesMax: number;
  readonly clock: () => Date;
  /** Called when a batch could not go on; it is tried again. */
  readonly onFailure: (error: unknown, about: { batch: string }) => void;
}

export class Batches implements AsyncDisposable {
  readonly files: StoredFiles;
  readonly #options: BatchesOptions;
  readonly #store: BatchStore;
  readonly #closing = new AbortController();
  /** Those that have not ended, oldest first. */
  readonly #open = new Map<string, BatchRun>();
  /** Those that are worked on, or will be tried again, with the end of that work. */
  readonly #running = new Map<string, Promise<void>>();

  private constructor(store: BatchStore, options: BatchesOptions) {
    const { folder, bytesMax, clock } = options;
    this.#options = options;
    this.#store = store;
    this.files = new StoredFiles({ store, folder, bytesMax, now: clock });
    for (const record of store.openBatches()) this.#open.set(record.batch.id, this.#makeRun(record));
  }

  /** Opens or makes the folder. `start()` continues with its batches. Throws ConfigError if it cannot be used. */
  static async open(options: BatchesOptions): Promise<Batches> {
    return new Batches(await BatchStore.open(path.join(options.folder, "batches.db")), options);
  }

  /** Works on as many batches as may run; an owner with fewer running ones comes first, then the oldest batch. */
  start(): void {
    while (!this.#closing.signal.aborted && this.#running.size < runsMax) {
      const counts = new Map<string, number>();
      for (const id of this.#running.keys()) {
        const owner = this.#open.get(id)?.owner ?? "";
        counts.set(owner, (counts.get(owner) ?? 0) + 1);
      }
      const waiting = [...this.#open].filter(([id]) => !this.#running.has(id));
      const [next] = waiting.toSorted(
        ([, one], [, other]) => (counts.get(one.owner) ?? 0) - (counts.get(other.owner) ?? 0),
      );
      if (next === undefined) return;
      this.#begin(...next);
    }
  }

  /** Throws `not_found` for an unknown file, and `overloaded` for too many batches that have not ended. */
  create(request: BatchRequest, { owner, sender }: Pick<BatchRecord, "owner" | "sender">): Batch {
    const { input_file_id, endpoint, completion_window, metadata = null } = request;
    this.files.find(input_file_id, owner);
    const openOfOwner = [...this.#open.values()].filter((run) => run.owner === owner).length;
    if (openOfOwner >= openBatchesMax)
      throw new WireError("overloaded", `You have ${openBatchesMax} batches that have not ended.`, {
        retryAfterSeconds: retryMs / 1000,
      });
    const batch: Batch = {
      id: `batch_${randomUUID().replaceAll("-", "")}`,
      object: "batch",
      endpoint,
      input_file_id,
      completion_window,
      status: "validating",
      created_at: toUnixSeconds(this.#options.clock()),
      request_counts: { total: 0, completed: 0, failed: 0 },
      usage: noUsage(),
      metadata,
    };
    const record: BatchRecord = { batch, owner, sender, outputId: newFileId(), errorId: newFileId() };
    this.#store.putBatch(record);
    this.#open.set(batch.id, this.#makeRun(record));
    this.start();
    return batch;
  }

  /** Throws `not_found`. */
  find(id: string, owner: string): Batch {
    const record = this.#store.batch(id, owner);
    if (record === undefined) throw new WireError("not_found", `No batch has the id ${JSON.stringify(id)}.`);
    return this.#open.get(id)?.batch ?? record.batch;
  }

  list(owner: string, query: PageQuery): ListPage<Batch> {
    const { items, hasMore } = this.#store.batches(owner, query);
    return { items: items.map(({ batch }) => this.#open.get(batch.id)?.batch ?? batch), hasMore };
  }

  /** The batch, which ends soon. Throws `not_found`, and `invalid_request` for one that has ended. */
  cancel(id: string, owner: string): Batch {
    const before = this.find(id, owner);
    const run = this.#open.get(id);
    if (run === undefined || before.status === "finalizing")
      throw new WireError(
        "invalid_request",
        `The batch cannot be cancelled: its status is ${before.status}.`,
      );
    run.cancel();
    if (!this.#running.has(id)) this.#begin(id, run); // there is little to do
    return run.batch;
  }

  /** Stops all work, which continues when the folder is opened again. Idempotent. */
  async stop(): Promise<void> {
    this.#closing.abort(new WireError("shutting_down", "The server is stopping."));
    await Promise.all(this.#running.values());
  }

  /** Stops, and frees the folder. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#store[Symbol.dispose]();
  }

  #makeRun(record: BatchRecord): BatchRun {
    const now = (): number => toUnixSeconds(this.#options.clock());
    return new BatchRun(record, { ...this.#options, store: this.#store, files: this.files, now });
  }

  #begin(id: string, run: BatchRun): void {
    this.#running.set(id, this.#work(id, run));
  }

  /** Never rejects. */
  async #work(id: string, run: BatchRun): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await run.run(signal);
        this.#open.delete(id);
        break;
      } catch (error) {
        if (signal.aborted) break;
        this.#options.onFailure(error, { batch: id });
        await pause(retryMs, signal);
      }
    }
    this.#running.delete(id);
    this.start();
  }
}

/** Resolves after this time, or when the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal, ref: false }).catch(() => {});
}
