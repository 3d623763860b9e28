// Counts the results of a batch, and adds up the tokens of its responses, whichever endpoint they are from.
import type { BatchResult, BatchUsage } from "@ingle/protocol";
import { z } from "zod";
import { isSuccess } from "./run-lines.ts";

const tokens = z.int().min(0).catch(0);
const details = z
  .looseObject({ cached_tokens: tokens, reasoning_tokens: tokens })
  .catch({ cached_tokens: 0, reasoning_tokens: 0 });

/** The usage of a response, in the names of all endpoints. */
const Usage = z.looseObject({
  prompt_tokens: tokens,
  input_tokens: tokens,
  completion_tokens: tokens,
  output_tokens: tokens,
  prompt_tokens_details: details,
  input_tokens_details: details,
  completion_tokens_details: details,
  output_tokens_details: details,
});
const WithUsage = z.looseObject({ usage: Usage });

export class Tally {
  completed = 0;
  failed = 0;
  /** The ids of all requests with a result. */
  readonly done = new Set<string>();
  readonly usage: BatchUsage = noUsage();

  add(result: BatchResult): void {
    if (result.custom_id !== null) this.done.add(result.custom_id);
    if (isSuccess(result)) this.completed += 1;
    else this.failed += 1;
    const found = WithUsage.safeParse(result.response?.body);
    if (found.success) this.#addUsage(found.data.usage);
  }

  #addUsage(of: z.infer<typeof Usage>): void {
    const { usage } = this;
    const input = of.prompt_tokens + of.input_tokens;
    const output = of.completion_tokens + of.output_tokens;
    usage.input_tokens += input;
    usage.output_tokens += output;
    usage.total_tokens += input + output;
    usage.input_tokens_details.cached_tokens +=
      of.prompt_tokens_details.cached_tokens + of.input_tokens_details.cached_tokens;
    usage.output_tokens_details.reasoning_tokens +=
      of.completion_tokens_details.reasoning_tokens + of.output_tokens_details.reasoning_tokens;
  }
}

export function noUsage(): BatchUsage {
  return {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  };
}
