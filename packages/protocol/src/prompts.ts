// The prompt of a text completion: a text, token ids, or several of either. Used by completions.ts; tokenize.ts takes the
// list of token ids from here.
import { z } from "zod";

import { hasItemsAtMost, inBounds } from "./in-bounds.ts";
import { textLengthMax } from "./messages.ts";

/** Most prompts of one request, and most replies to all of them together: each reply waits in line by itself. */
export const completionsMax = 128;

/** Most token ids of one list: as many as the longest contexts that are known. */
export const tokensMax = 1024 * 1024;

/** No vocabulary has more; ids are 32 bits wide in the engine. */
const tokenIdMax = 2 ** 31 - 1;

const rule =
  `prompt must be a text of at most ${textLengthMax} characters, 1 to ${tokensMax} token ids, ` +
  `or an array of 1 to ${completionsMax} of either`;

function isTokenId(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= tokenIdMax;
}

function areTokenIds(value: unknown): boolean {
  return Array.isArray(value) && value.length <= tokensMax && value.every(isTokenId);
}

/**
 * Token ids as the engine takes them; whether a model has them is the engine's to say. `ofWhat` is the rule that they stand in.
 * There may be a million of them, which are one value from then on.
 */
export function tokenIds(ofWhat: string, { min = 1 }: { min?: number } = {}) {
  const id = z.int(ofWhat).min(0, ofWhat).max(tokenIdMax, ofWhat);
  const ids = z.array(id, ofWhat).min(min, ofWhat).max(tokensMax, ofWhat);
  const isInBounds = (value: unknown): boolean => !Array.isArray(value) || areTokenIds(value);
  return inBounds(ids, isInBounds, ofWhat).transform((each) => Int32Array.from(each));
}

const text = z.string(rule).max(textLengthMax, rule);

/** What is longer than a list of prompts may only be the tokens of one. */
function isInBoundsOfList(value: unknown): boolean {
  return hasItemsAtMost(completionsMax)(value) || areTokenIds(value);
}

export const CompletionPrompt = inBounds(
  z.union(
    [
      text,
      tokenIds(rule),
      z.array(text, rule).min(1, rule).max(completionsMax, rule),
      z.array(tokenIds(rule), rule).min(1, rule).max(completionsMax, rule),
    ],
    rule,
  ),
  isInBoundsOfList,
  rule,
).meta({
  id: "CompletionPrompt",
  description: "A text, the ids of its tokens, or several of either: each is replied to by itself.",
});
export type CompletionPrompt = z.infer<typeof CompletionPrompt>;

/** The prompts one by one. */
export function promptsOf(prompt: CompletionPrompt): readonly (string | Int32Array)[] {
  return typeof prompt === "string" || prompt instanceof Int32Array ? [prompt] : prompt;
}
