// How likely tokens were, in wire names. Used by the answers of each protocol that tell it.
import type { TokenLogprobs } from "@ingle/engine";
import type { TokenLogprob } from "@ingle/protocol";

export function toTokenLogprobs(tokens: readonly TokenLogprobs[]): TokenLogprob[] {
  return tokens.map(({ top, ...chosen }) => ({ ...toToken(chosen), top_logprobs: top.map(toToken) }));
}

function toToken({ bytes, logprob }: Omit<TokenLogprobs, "top">): Omit<TokenLogprob, "top_logprobs"> {
  return { token: decoder.decode(bytes), logprob, bytes: [...bytes] };
}

const decoder = new TextDecoder();
