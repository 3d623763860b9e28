// A system under test: it is started fresh, streams replies, reports its resource usage, and is stopped.
import { BenchError } from "./bench-error.ts";
import type { ProcessUsage } from "./machine.ts";
import type { StreamOptions } from "./stream-client.ts";
import type { StreamRecord, StreamRequest } from "./stream-record.ts";

export type SubjectName = "ingle" | "llama-server" | "node-llama-cpp" | "llama-bench";

/** Maximum tokens of one request, prompt and reply. */
export const contextLength = 2_048;
/** From the start of the process to readiness. */
export const readyLimitMs = 300_000;

/** A model, and optionally its projector. */
export interface ModelFiles {
  model: string;
  /** Its projector. Default: none, text only. */
  mmproj?: string | undefined;
}

export interface SubjectOptions extends ModelFiles {
  threads: number;
  /** Maximum number of requests computed at the same time. */
  slots: number;
  /** Where Ingle computes. Default: in a process of the model's own. */
  engine?: EnginePlace | undefined;
  /** The program llama-server. Default: the one in bench/peers. */
  llamaServer?: string | undefined;
  signal: AbortSignal;
}

/** The values of Ingle's `--engine`. */
export const enginePlaces = ["process", "in-process"] as const;
export type EnginePlace = (typeof enginePlaces)[number];

export interface Subject extends AsyncDisposable {
  readonly name: SubjectName;
  /** When its process was started, by this process's `performance.now()`. */
  readonly startedAtMs: number;
  /** Throws BenchError if the reply fails or has another length, or the signal's reason. */
  stream(request: StreamRequest, options?: StreamOptions): Promise<StreamRecord>;
  /** Undefined if the system does not report it. */
  usage(): Promise<ProcessUsage | undefined>;
}

/**
 * Runs all requests concurrently, waits for all of them, and returns the records in the same order. Throws one BenchError
 * for all failures.
 */
export async function streamAll(
  subject: Subject,
  requests: readonly StreamRequest[],
  options: StreamOptions = {},
): Promise<StreamRecord[]> {
  const results = await Promise.allSettled(requests.map((request) => subject.stream(request, options)));
  return succeeded(results, options.signal);
}

/** The values of settled requests. Throws the signal's reason, or one BenchError for all that failed. */
export function succeeded<T>(results: readonly PromiseSettledResult<T>[], signal?: AbortSignal): T[] {
  signal?.throwIfAborted();
  const values: T[] = [];
  const failures = new Set<string>();
  for (const result of results) {
    if (result.status === "fulfilled") values.push(result.value);
    else if (result.reason instanceof BenchError) failures.add(result.reason.message);
    else throw result.reason;
  }
  if (failures.size === 0) return values;
  const count = results.length - values.length;
  throw new BenchError(`${count} of ${results.length} requests failed. ${[...failures].join(" ")}`);
}
