// Works on one batch until it ends: checks its file, computes its requests, and makes files of their results. What it has done is on the
// disk at any time, so that another process can continue with it.
import { createReadStream } from "node:fs";
import {
  batchEndpoints,
  batchErrorsMax,
  batchLineBytesMax,
  batchLinesMax,
  type Batch,
  type BatchEndpoint,
  type BatchError,
} from "@ingle/protocol";
import { canCancel, errorList, isFinal, moved, type BatchRecord } from "./batch-record.ts";
import type { BatchStore } from "./batch-store.ts";
import { LineChecker, type RequestLine } from "./check-lines.ts";
import { byPrefix } from "./prefix-order.ts";
import { readLines } from "./read-lines.ts";
import { ResultLog } from "./result-log.ts";
import { isSuccess, runLines, type LineResponse } from "./run-lines.ts";
import type { StoredFiles } from "./stored-files.ts";
import { Tally } from "./tally.ts";

export interface BatchRunOptions {
  readonly store: BatchStore;
  readonly files: StoredFiles;
  /** Sends a request with the rights of the batch's key. */
  readonly send: (record: BatchRecord, line: RequestLine, signal: AbortSignal) => Promise<LineResponse>;
  /** How many requests to a model may be in flight; `model` is a name in a request. */
  readonly places: (record: BatchRecord, model: unknown) => number;
  /** Resolves when the server has models. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Unix seconds. */
  readonly now: () => number;
}

export class BatchRun {
  readonly #options: BatchRunOptions;
  readonly #cancelled = new AbortController();
  #record: BatchRecord;
  /** The results so far, while they are computed. */
  #tally: Tally | undefined;

  constructor(record: BatchRecord, options: BatchRunOptions) {
    this.#record = record;
    this.#options = options;
  }

  get owner(): string {
    return this.#record.owner;
  }

  /** The batch with what it has done so far. */
  get batch(): Batch {
    const { batch } = this.#record;
    const tally = this.#tally;
    if (tally === undefined) return batch;
    const { completed, failed, usage } = tally;
    return { ...batch, request_counts: { ...batch.request_counts, completed, failed }, usage };
  }

  /** Stops computing; results so far are kept. A batch that has ended or is about to stays as it is. */
  cancel(): void {
    if (!canCancel(this.#record)) return;
    this.#move("cancelling");
    this.#cancelled.abort(new Error("The batch was cancelled."));
  }

  /** Resolves when the batch has ended. Rejects with the signal's reason, or what failed; the batch can then be continued. */
  async run(signal: AbortSignal): Promise<void> {
    const stopped = AbortSignal.any([signal, this.#cancelled.signal]);
    while (!isFinal(this.#record)) {
      signal.throwIfAborted();
      const { status } = this.#record.batch;
      try {
        if (status === "validating") await this.#validate(stopped);
        else if (status === "in_progress") await this.#compute(stopped);
        else await this.#finalize(status === "cancelling" ? "cancelled" : "completed");
      } catch (error) {
        // A batch that was cancelled meanwhile goes on in its new state.
        if (!this.#cancelled.signal.aborted || this.#record.batch.status === status) throw error;
      } finally {
        this.#tally = undefined;
      }
    }
  }

  async #validate(signal: AbortSignal): Promise<void> {
    const checker = new LineChecker({ endpoint: toEndpoint(this.#record.batch) });
    const errors: BatchError[] = [];
    let total = 0;
    for await (const line of this.#inputLines()) {
      signal.throwIfAborted();
      total += 1;
      const checked = checker.check(line);
      if ("problem" in checked) {
        const { number, code, message, param } = checked.problem;
        errors.push({ code, message, param, line: number });
      }
      if (errors.length >= batchErrorsMax || total > batchLinesMax) break;
    }
    if (total > batchLinesMax) errors.unshift(tooManyLines);
    if (total === 0) errors.push(noLines);
    if (errors.length > 0) this.#move("failed", errorList(errors));
    else this.#move("in_progress", { request_counts: { total, completed: 0, failed: 0 } });
  }

  async #compute(signal: AbortSignal): Promise<void> {
    const { send, places, ready } = this.#options;
    const tally = new Tally();
    await using output = await this.#openLog(this.#record.outputId, tally);
    await using errors = await this.#openLog(this.#record.errorId, tally);
    this.#tally = tally;
    await ready(signal);
    let model: unknown;
    await runLines(byPrefix(this.#linesLeft(tally.done)), {
      signal,
      places: () => places(this.#record, model),
      send: async (line, lineSignal) => {
        model = line.body["model"];
        return await send(this.#record, line, lineSignal);
      },
      keep: async (result) => {
        await (isSuccess(result) ? output : errors).append(result);
        tally.add(result);
      },
    });
    this.#move("finalizing");
  }

  /** Reads the results again: after a restart, only the files know how many there are. */
  async #finalize(status: "completed" | "cancelled"): Promise<void> {
    const { store, files } = this.#options;
    const { batch, owner, outputId, errorId } = this.#record;
    const tally = new Tally();
    for (const id of [outputId, errorId]) await (await this.#openLog(id, tally))[Symbol.asyncDispose]();
    const output = await files.output(outputId, `${batch.id}_output.jsonl`);
    const errors = await files.output(errorId, `${batch.id}_error.jsonl`);
    const { completed, failed, usage } = tally;
    store.together(() => {
      for (const file of [output, errors]) if (file !== undefined) store.addFile(file, owner);
      this.#move(status, {
        ...(output === undefined ? {} : { output_file_id: outputId }),
        ...(errors === undefined ? {} : { error_file_id: errorId }),
        request_counts: { ...batch.request_counts, completed, failed },
        usage,
      });
    });
  }

  async *#linesLeft(done: ReadonlySet<string>): AsyncGenerator<RequestLine, void, undefined> {
    const checker = new LineChecker({ endpoint: toEndpoint(this.#record.batch) });
    for await (const line of this.#inputLines()) {
      const checked = checker.check(line);
      if ("problem" in checked) throw new Error(`Line ${line.number} has changed since it was checked.`);
      if (!done.has(checked.line.customId)) yield checked.line;
    }
  }

  #inputLines() {
    const file = this.#options.files.pathOf(this.#record.batch.input_file_id);
    return readLines(createReadStream(file), { bytesMax: batchLineBytesMax });
  }

  async #openLog(id: string, tally: Tally): Promise<ResultLog> {
    return await ResultLog.open(this.#options.files.pathOf(id), (result) => tally.add(result));
  }

  #move(status: Batch["status"], more: Partial<Batch> = {}): void {
    const { store, now } = this.#options;
    const record = moved(this.#record, status, { ...more, now: now() });
    store.putBatch(record);
    this.#record = record;
  }
}

const tooManyLines: BatchError = {
  code: "payload_too_large",
  message: `The file has more than ${batchLinesMax} requests. Make several batches of it.`,
  param: null,
  line: null,
};
const noLines: BatchError = {
  code: "invalid_request",
  message: "The file has no requests.",
  param: null,
  line: null,
};

function toEndpoint({ endpoint }: Batch): BatchEndpoint | undefined {
  return batchEndpoints.find((each) => each === endpoint);
}
