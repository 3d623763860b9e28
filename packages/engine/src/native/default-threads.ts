// The number of threads to compute with on this machine.
import { buildInfo } from "./addon.ts";
import { invalidRequest } from "../base/errors.ts";
import { issueMessage } from "../base/issue-message.ts";
import { findProcessors, type Processors } from "../machine/processors.ts";
import { chooseThreads, ThreadCount, type ThreadChoice } from "../machine/threads.ts";

/** What this process may compute with, and the default number of threads. Looked up anew, since a quota may change. */
export async function defaultThreads(): Promise<{ processors: Processors } & ThreadChoice> {
  const processors = findProcessors((await buildInfo()).performanceCores);
  return { processors, ...chooseThreads(processors) };
}

/** The given number of threads, or the default. Throws `invalid_request`. */
export async function checkThreads(threads?: number): Promise<number> {
  if (threads === undefined) return (await defaultThreads()).threads;
  const result = ThreadCount.safeParse(threads);
  if (result.success) return result.data;
  throw invalidRequest("threads", issueMessage(result.error.issues[0]), result.error);
}
