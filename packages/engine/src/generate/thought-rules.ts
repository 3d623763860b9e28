// When the thought of a reply is ended, and by which tokens: for the native engine, which follows the reply.
import { invalidRequest } from "../base/errors.ts";
import type { NativeThoughtRules, NativeThoughtSyntax } from "../native/addon.ts";
import type { Tokenizer } from "../prompt/tokenizer.ts";

/** No thought is followed. */
export const noThought: NativeThoughtRules = {
  begin: "",
  ends: [],
  isOpen: false,
  tokensMax: -1,
  share: 0,
  closing: new Int32Array(),
};

interface ThinkingLimits {
  thinkingTokens?: number | undefined;
  thinkingShare?: number | undefined;
  thinkingDefault?: number | undefined;
  thinkingEnd: string;
}

/** Throws `invalid_request` for a limit of thoughts whose end is not known. */
export async function prepareThought(
  { thinkingTokens, thinkingShare = 0, thinkingDefault = -1, thinkingEnd }: ThinkingLimits,
  { begin, ends, isOpen, mayThink }: NativeThoughtSyntax,
  tokenizer: Tokenizer,
): Promise<NativeThoughtRules> {
  const [end] = ends;
  if (end === undefined) {
    if (thinkingTokens === undefined || thinkingTokens === -1 || !mayThink) return noThought;
    const reason =
      "this model thinks, but its chat template does not tell how a thought ends; only maxTokens limits it.";
    throw invalidRequest("thinkingTokens", reason);
  }
  const mark = await markTokens(end, tokenizer);
  const sentence = thinkingEnd === "" ? [] : await tokenizer.encode(thinkingEnd, plain);
  return {
    begin,
    ends,
    isOpen,
    tokensMax: thinkingTokens ?? (thinkingShare > 0 ? -1 : thinkingDefault),
    share: thinkingTokens === undefined ? thinkingShare : 0,
    closing: Int32Array.of(...sentence, ...mark),
  };
}

const plain = { addSpecial: false, parseSpecial: false };

const marks = new WeakMap<Tokenizer, { end: string; tokens: Promise<Int32Array> }>();

/** Those of the last mark are kept: a model has one. */
function markTokens(end: string, tokenizer: Tokenizer): Promise<Int32Array> {
  const known = marks.get(tokenizer);
  if (known?.end === end) return known.tokens;
  const tokens = tokenizer.encode(end, { ...plain, parseSpecial: true });
  marks.set(tokenizer, { end, tokens });
  return tokens;
}
