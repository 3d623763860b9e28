// `best_of`: of several replies to a prompt, a completion returns those whose tokens are likeliest on average.
import type { TokenLogprobs } from "@ingle/engine";

interface Reply {
  logprobs?: readonly TokenLogprobs[];
}

/** The best `returned` of each `generated` consecutive replies, best first. All of them stay in their order. */
export function bestOfEach<R extends Reply>(
  replies: readonly R[],
  generated: number,
  returned: number,
): readonly R[] {
  if (returned >= generated) return replies;
  const prompts = Array.from({ length: replies.length / generated }, (_, index) =>
    replies.slice(index * generated, (index + 1) * generated),
  );
  return prompts.flatMap((ofOne) =>
    ofOne.toSorted((one, other) => meanLogprob(other) - meanLogprob(one)).slice(0, returned),
  );
}

/** An empty reply is the worst: it says nothing. */
function meanLogprob({ logprobs = [] }: Reply): number {
  if (logprobs.length === 0) return Number.NEGATIVE_INFINITY;
  return logprobs.reduce((sum, { logprob }) => sum + logprob, 0) / logprobs.length;
}
