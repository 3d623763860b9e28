// The tokens of a prompt that is a text, a text with a gap to fill, or token ids.
import { invalidRequest } from "../base/errors.ts";
import type { NativeModelInfo } from "../native/addon.ts";
import { toTokenIds, type Tokenizer } from "./tokenizer.ts";

export interface PlainPrompt {
  prompt: string | readonly number[] | Int32Array;
  /** The text after the reply; empty for none. */
  suffix: string;
}

/** Throws `invalid_request`. */
export async function promptTokens(
  { prompt, suffix }: PlainPrompt,
  tokenizer: Tokenizer,
  info: NativeModelInfo,
): Promise<Int32Array> {
  if (typeof prompt !== "string") {
    if (suffix !== "") throw invalidRequest("suffix", "it needs a prompt that is a text; leave it out.");
    return toTokenIds(prompt, info.vocabularySize, "prompt");
  }
  if (suffix !== "") return infillTokens(prompt, suffix, tokenizer, info);
  const tokens = await tokenizer.encode(prompt);
  return tokens.length > 0 ? tokens : emptyPrompt(info);
}

/** An empty prompt starts a new text: after the beginning-of-text token, or else after the end of another text. */
function emptyPrompt({ tokens: { bos, eos } }: NativeModelInfo): Int32Array {
  const begin = bos >= 0 ? bos : eos;
  if (begin >= 0) return Int32Array.of(begin);
  throw invalidRequest("prompt", "must not be empty, because this model has no token that starts a text.");
}

/** Special tokens in the texts around the gap are treated as text. */
async function infillTokens(
  prefix: string,
  suffix: string,
  tokenizer: Tokenizer,
  { tokens, addsBos }: NativeModelInfo,
): Promise<Int32Array> {
  const { bos, infillPrefix, infillSuffix, infillMiddle } = tokens;
  if (infillPrefix < 0 || infillSuffix < 0 || infillMiddle < 0)
    throw invalidRequest("suffix", "this model has no tokens for a text with a gap; leave it out.");
  const asText = { addSpecial: false, parseSpecial: false };
  const before = await tokenizer.encode(prefix, asText);
  const after = await tokenizer.encode(suffix, asText);
  const begin = addsBos ? [bos] : [];
  return Int32Array.from([...begin, infillPrefix, ...before, infillSuffix, ...after, infillMiddle]);
}
