// Log probabilities in the form of completions: parallel lists instead of a list of objects.
import type { PromptTokenLogprobs } from "@ingle/engine";
import type { CompletionLogprobs } from "@ingle/protocol";

type TokenBytes = Pick<PromptTokenLogprobs, "bytes">;

/**
 * Writes the log probabilities of one choice, piece by piece: text offsets continue from the piece before. `hidden` characters at the
 * start of the tokens' texts are not in the choice's text.
 */
export function logprobsWriter(hidden = 0): (tokens: readonly PromptTokenLogprobs[]) => CompletionLogprobs {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let offset = -hidden;
  // A token that continues a character has the offset of that character.
  const nextOffset = ({ bytes }: TokenBytes): number => {
    const begin = Math.max(0, offset);
    offset += Array.from(decoder.decode(bytes, { stream: true })).length;
    return begin;
  };
  return (tokens) => ({
    tokens: tokens.map(tokenText),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(likeliest),
    text_offset: tokens.map(nextOffset),
  });
}

/** How many characters a prompt's tokens have before its text: those of an added special token, and a space that some models add. */
export function hiddenBefore(text: string, tokens: readonly TokenBytes[]): number {
  const written = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    Buffer.concat(tokens.map(({ bytes }) => bytes)),
  );
  return Math.max(0, Array.from(written).length - Array.from(text).length);
}

/** Includes the token itself. Of tokens with the same text, the likelier one counts. */
function likeliest(token: PromptTokenLogprobs): Record<string, number> | null {
  const { logprob } = token;
  if (logprob === null) return null;
  const byText = new Map<string, number>();
  for (const one of [...token.top, { ...token, logprob }]) {
    const text = tokenText(one);
    if (!byText.has(text)) byText.set(text, one.logprob);
  }
  return Object.fromEntries(byText);
}

/** A token that is a part of a character has no text; its bytes identify it. */
function tokenText({ bytes }: TokenBytes): string {
  try {
    return strict.decode(bytes);
  } catch {
    return `bytes:${Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`;
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
