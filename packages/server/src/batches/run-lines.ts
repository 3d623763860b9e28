// Sends the requests of a batch, so many at once that the model always has work, and tries again what only failed because of the moment.
import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { ErrorBody, type BatchResult, type WireErrorCode } from "@ingle/protocol";
import type { LineProblem, RequestLine } from "./check-lines.ts";

/** The endpoint's response to one request. */
export interface LineResponse {
  readonly status: number;
  readonly requestId: string;
  /** Seconds after which to try again; undefined: not specified. */
  readonly retryAfterSeconds: number | undefined;
  readonly body: unknown;
}

/** Throws if there is no response, which ends the batch for now; the signal's reason if it is aborted. */
type SendLine = (line: RequestLine, signal: AbortSignal) => Promise<LineResponse>;

export interface RunOptions {
  /** How many requests may be in flight now. Asked before each one. */
  readonly places: () => number;
  readonly send: SendLine;
  /** Stores a result. */
  readonly keep: (result: BatchResult) => Promise<void>;
  readonly signal: AbortSignal;
  /** Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** How often a request is sent that gets such an error. Other errors are results. */
const triesMax: Partial<Record<WireErrorCode, number>> = {
  // Waiting helps: others use the model, the limits of the key, or the server is about to stop.
  overloaded: 1_000,
  rate_limited: Infinity,
  model_loading: Infinity,
  shutting_down: Infinity,
  // Maybe this request is the reason.
  out_of_memory: 3,
  engine_crashed: 3,
  worker_lost: 3,
  worker_unreachable: 3,
};
const firstWaitMs = 250;
const longestWaitMs = 30_000;

/** Resolves when every line has a result. Rejects with the first failure, or the signal's reason, when no request is in flight any more. */
export async function runLines(lines: AsyncIterable<RequestLine>, options: RunOptions): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  setMaxListeners(0, signal); // each request listens
  const inFlight = new Set<Promise<void>>();
  const start = (line: RequestLine): void => {
    const task = runLine(line, { ...options, signal })
      .catch((error: unknown) => failed.abort(error))
      .finally(() => inFlight.delete(task));
    inFlight.add(task);
  };
  try {
    for await (const line of lines) {
      while (inFlight.size >= Math.max(1, options.places()) && !signal.aborted) await Promise.race(inFlight);
      signal.throwIfAborted();
      start(line);
    }
  } finally {
    await Promise.all(inFlight);
  }
  signal.throwIfAborted();
}

async function runLine(line: RequestLine, { send, keep, signal, sleep = pause }: RunOptions): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    const response = await send(line, signal);
    if (tries >= (triesMax[errorCode(response)] ?? 1)) return await keep(toResult(line, response));
    await sleep(waitMs(response, tries), signal);
  }
}

/** As the response says, else longer after each try. */
function waitMs({ retryAfterSeconds = 0 }: LineResponse, tries: number): number {
  const ms = retryAfterSeconds > 0 ? 1000 * retryAfterSeconds : firstWaitMs * 2 ** (tries - 1);
  return Math.min(longestWaitMs, ms);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}

function errorCode({ status, body }: LineResponse): WireErrorCode {
  const error = status < 400 ? undefined : ErrorBody.safeParse(body);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an unknown code has no entry in the table of tries
  return (error?.data?.error.code ?? "internal") as WireErrorCode;
}

function toResult(
  { customId }: RequestLine,
  { status: status_code, requestId: request_id, body }: LineResponse,
): BatchResult {
  return { id: resultId(), custom_id: customId, response: { status_code, request_id, body }, error: null };
}

/** The result of a line that is not sent. */
export function problemResult({ number: line, customId, code, message }: LineProblem): BatchResult {
  return { id: resultId(), custom_id: customId, response: null, error: { code, message, line } };
}

/** Whether its request succeeded. */
export function isSuccess({ response }: BatchResult): boolean {
  return response !== null && response.status_code < 300;
}

function resultId(): string {
  return `batch_req_${randomUUID().replaceAll("-", "")}`;
}
