// How many threads compute. Used wherever an option says it.
import { availableParallelism } from "node:os";
import { z } from "zod";
import { EngineError } from "./errors.ts";
import { issueWords } from "./issue-words.ts";

/** ggml has room for so many. */
const threadsMax = 512;

export const ThreadCount = z.int().min(1).max(threadsMax);

/** One for each core. */
export function threadsDefault(): number {
  return Math.min(availableParallelism(), threadsMax);
}

/** What the option says, else one for each core. Throws `invalid_request` for what is no number of threads. */
export function checkThreads(threads: number = threadsDefault()): number {
  const result = ThreadCount.safeParse(threads);
  if (result.success) return result.data;
  const message = `threads: ${issueWords(result.error.issues[0])}`;
  throw new EngineError("invalid_request", message, { cause: result.error, details: { param: "threads" } });
}
