// The number of threads that compute.
import { availableParallelism } from "node:os";
import { z } from "zod";
import { EngineError } from "./errors.ts";
import { issueWords } from "./issue-words.ts";

/** ggml's limit. */
const threadsMax = 512;

export const ThreadCount = z.int().min(1).max(threadsMax);

/** One per core. */
export function threadsDefault(): number {
  return Math.min(availableParallelism(), threadsMax);
}

/** The given number of threads, or one per core. Throws `invalid_request`. */
export function checkThreads(threads: number = threadsDefault()): number {
  const result = ThreadCount.safeParse(threads);
  if (result.success) return result.data;
  const message = `threads: ${issueWords(result.error.issues[0])}`;
  throw new EngineError("invalid_request", message, { cause: result.error, details: { param: "threads" } });
}
