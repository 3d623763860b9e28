// Log probabilities in the form of completions: parallel lists instead of a list of objects.
import type { TokenLogprobs } from "@ingle/engine";
import type { CompletionLogprobs } from "@ingle/protocol";

type TokenBytes = Pick<TokenLogprobs, "bytes">;

/** Writes the log probabilities of one choice, piece by piece: text offsets continue from the piece before. */
export function logprobsWriter(): (tokens: readonly TokenLogprobs[]) => CompletionLogprobs {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let offset = 0;
  // A token that continues a character has the offset of that character.
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

/** Includes the sampled token. Of tokens with the same text, the likelier one counts. */
function likeliest(token: TokenLogprobs): Record<string, number> {
  const byText = new Map<string, number>();
  for (const one of [...token.top, token]) {
    const text = textOf(one);
    if (!byText.has(text)) byText.set(text, one.logprob);
  }
  return Object.fromEntries(byText);
}

/** A token that is a part of a character has no text; its bytes identify it. */
function textOf({ bytes }: TokenBytes): string {
  try {
    return strict.decode(bytes);
  } catch {
    return `bytes:${Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`;
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
