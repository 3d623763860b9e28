// The answer in one piece, when `stream` is not true. Used by routes/completions.ts.
import type { FinishReason, GenerationResult } from "@ingle/engine";
import type { Completion, CompletionFinishReason } from "@ingle/protocol";
import { toTimings, toUsage, type ResponseFields } from "../usage.ts";
import { logprobsWriter } from "./logprobs.ts";

export interface CompletionOptions {
  repliesPerPrompt: number;
  /** What the text of a choice begins with: its prompt, where that is to be echoed. */
  openingOf: (index: number) => Promise<string>;
}

/** One choice for each result, in their order. */
export async function toCompletion(
  head: ResponseFields,
  results: readonly GenerationResult[],
  { repliesPerPrompt, openingOf }: CompletionOptions,
): Promise<Completion> {
  const openings = await Promise.all(results.map((_, index) => openingOf(index)));
  return {
    ...head,
    object: "text_completion",
    choices: results.map(({ text, logprobs, finishReason }, index) => ({
      index,
      text: `${openings[index]}${text}`,
      logprobs: logprobs === undefined ? null : logprobsWriter()(logprobs),
      finish_reason: toFinishReason(finishReason),
    })),
    usage: toUsage(results, repliesPerPrompt),
    timings: toTimings(results, repliesPerPrompt),
  };
}

/** Only conversations have tools to be called. */
export function toFinishReason(reason: FinishReason): CompletionFinishReason {
  return reason === "length" ? "length" : "stop";
}
