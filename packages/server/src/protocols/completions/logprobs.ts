// Probabilities as text completions tell them: lists beside each other instead of a list of objects. Used by
// to-completion.ts and to-chunks.ts.
import type { TokenLogprobs } from "@ingle/engine";
import type { CompletionLogprobs } from "@ingle/protocol";

type TokenBytes = Pick<TokenLogprobs, "bytes">;

/** Writes those of one choice, piece after piece: each knows where the one before it ended. */
export function logprobsWriter(): (tokens: readonly TokenLogprobs[]) => CompletionLogprobs {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let offset = 0;
  // A token that only goes on with a character begins where that character does.
  const offsetOf = ({ bytes }: TokenBytes): number => {
    const begin = offset;
    offset += Array.from(decoder.decode(bytes, { stream: true })).length;
    return begin;
  };
  return (tokens) => ({
    tokens: tokens.map(textOf),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(likeliest),
    text_offset: tokens.map(offsetOf),
  });
}

/** The token that was drawn is told too where it is not among them. Of tokens with the same text the likelier counts. */
function likeliest(token: TokenLogprobs): Record<string, number> {
  const told = new Map<string, number>();
  for (const one of [...token.top, token]) {
    const text = textOf(one);
    if (!told.has(text)) told.set(text, one.logprob);
  }
  return Object.fromEntries(told);
}

/** A part of a character has no text, but must be told from other parts. */
function textOf({ bytes }: TokenBytes): string {
  try {
    return strict.decode(bytes);
  } catch {
    return `bytes:${Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`;
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
