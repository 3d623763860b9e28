// The tokens of a vocabulary by their numbers: texts, kinds, merges and scores. The kinds follow get_vocab_base() and
// _create_vocab_sentencepiece() in llama.cpp's conversion/base.py.
import { MlxError } from "../errors.ts";
import { isObject } from "../json-file.ts";
import { SPACE } from "./sentence-pieces.ts";
import { TOKEN_LENGTH_MAX } from "./tokenizer-json.ts";
import type { AddedToken, TokenizerJson } from "./tokenizer-json.ts";

/** llama.cpp's numbers for the kinds of tokens. */
const kinds = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

export interface TokenList {
  /** By id. */
  texts: string[];
  /** By id, as `kinds` has them. */
  types: number[];
}

/** The longest lists have about half a million; a GGUF header holds as many as this. */
const ENTRIES_MAX = 2 ** 21;
/** What llama.cpp's converter gives tokens that are never merged to. */
const ADDED_SCORE = -1000;
/** Llama's runs of spaces have this: they are merged last, from the left. */
const LAST_SCORE = -1e9;
const UNUSED_SCORE = -10_000;

/** A vocabulary whose tokens spell bytes by letters. `size` is the model's; ids without a token are filled up. */
export function byteLevelTokens(
  tokenizer: TokenizerJson,
  size: number,
): { tokens: TokenList; merges: string[] } {
  const vocabulary = readVocabulary(tokenizer);
  const needed = tokenizer.added_tokens.reduce((most, { id }) => Math.max(most, id + 1), vocabulary.length);
  if (needed > size) throw malformed(`has a token ${needed - 1}, but the model has rows for ${size} only`);
  const tokens = listTokens(vocabulary, tokenizer.added_tokens, size);
  const merges = readMerges(tokenizer).map(([left, right]) => `${escaped(left)} ${escaped(right)}`);
  if (merges.length === 0) throw malformed("has no merges");
  return { tokens, merges };
}

/** A space stands between the two; one within them is written as bytes are. */
function escaped(part: string): string {
  return part.replaceAll(" ", "\u0120");
}

/** A vocabulary of sentence pieces. Tokens beyond `size`, which the model has no row for, are left out. */
export function sentencePieceTokens(
  tokenizer: TokenizerJson,
  size: number,
): { tokens: TokenList; scores: number[] } {
  const vocabulary = readVocabulary(tokenizer);
  const added = tokenizer.added_tokens.filter(({ id }) => id < size);
  const tokens = listTokens(vocabulary.slice(0, size), added, size);
  for (const [id, text] of tokens.texts.entries()) {
    if (tokens.types[id] !== kinds.normal) continue;
    if (/^<0x[0-9A-F]{2}>$/.test(text)) tokens.types[id] = kinds.byte;
    else if (text === tokenizer.model.unk_token) tokens.types[id] = kinds.unknown;
  }
  return { tokens, scores: scoresOf(tokens, readMerges(tokenizer)) };
}

/** Texts by id, with gaps. */
function readVocabulary({ model }: TokenizerJson): (string | undefined)[] {
  const { vocab } = model;
  if (!isObject(vocab)) throw malformed("has no vocabulary");
  const entries = Object.entries(vocab); // ids are checked below
  if (entries.length === 0 || entries.length > ENTRIES_MAX)
    throw malformed(`has ${entries.length} tokens; 1 to ${ENTRIES_MAX} are possible`);
  const texts: (string | undefined)[] = [];
  for (const [text, id] of entries) {
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0 || id >= ENTRIES_MAX)
      throw malformed(`gives the token "${text.slice(0, 64)}" no id`);
    if (text.length > TOKEN_LENGTH_MAX) throw malformed(`has a token of ${text.length} letters`);
    if (texts[id] !== undefined) throw malformed(`gives the id ${id} to two tokens`);
    texts[id] = text;
  }
  return texts;
}

function readMerges({ model }: TokenizerJson): (readonly [string, string])[] {
  const merges = model.merges ?? [];
  if (!Array.isArray(merges) || merges.length > ENTRIES_MAX) throw malformed("has no list of merges");
  return merges.map((merge: unknown) => {
    const pair: unknown = typeof merge === "string" ? pairOf(merge) : merge;
    if (Array.isArray(pair) && pair.length === 2) {
      const [left, right] = pair as unknown[]; // looked at just below
      if (isPart(left) && isPart(right)) return [left, right] as const;
    }
    throw malformed("has a merge that is no pair of texts");
  });
}

/** The older form: both texts with a space between them. */
function pairOf(merge: string): string[] {
  const space = merge.indexOf(" ", 1);
  return space === -1 ? [merge] : [merge.slice(0, space), merge.slice(space + 1)];
}

function isPart(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= TOKEN_LENGTH_MAX;
}

function listTokens(
  vocabulary: readonly (string | undefined)[],
  added: readonly AddedToken[],
  size: number,
): TokenList {
  const texts = Array.from({ length: size }, (_, id) => vocabulary[id] ?? `[PAD${id}]`);
  const types: number[] = Array.from({ length: size }, (_, id) =>
    vocabulary[id] === undefined ? kinds.unused : kinds.normal,
  );
  for (const { id, content, special } of added) {
    const isControl = special === true || looksSpecial(content);
    texts[id] = isControl ? content : content.replaceAll(SPACE, " ");
    types[id] = isControl ? kinds.control : kinds.userDefined;
  }
  // Two ids for one text: llama.cpp would never give the first of them.
  const twice = texts.length - new Set(texts).size;
  if (twice > 0) throw malformed(`has ${twice} tokens twice`);
  return { texts, types };
}

/** Some models mark control tokens as plain ones; these are the ones that llama.cpp's converter knows. */
function looksSpecial(text: string): boolean {
  return (
    ["<pad>", "<mask>", "<2mass>", "[@BOS@]"].includes(text) ||
    (text.startsWith("<|") && text.endsWith("|>")) ||
    (text.startsWith("<\uff5c") && text.endsWith("\uff5c>")) ||
    (text.startsWith("<unused") && text.endsWith(">"))
  );
}

/**
 * A score for each sentence piece: llama.cpp merges the pair first whose piece has the highest. tokenizer.json has an order of
 * merges instead, made from the scores of the original file, where the n-th piece has the score −n. Where the merges come in
 * the order of the pieces' ids, these very scores are given; else they follow the merges.
 */
function scoresOf({ texts, types }: TokenList, merges: readonly (readonly [string, string])[]): number[] {
  const ids = new Map(texts.map((text, id) => [text, id]));
  const merged = [...new Set(merges.map(([left, right]) => ids.get(left + right)))].filter(
    (id) => id !== undefined,
  );
  const spaces = lastSpaces(merged, texts);
  const ordered = merged.slice(0, merged.length - spaces.size);
  const space = ids.get(SPACE);
  if (spaces.size > 0 && space !== undefined) spaces.add(space);
  const first = types.indexOf(kinds.normal);
  const isById = ordered.every((id, index) => index === 0 || id > (ordered[index - 1] ?? 0));
  const places = isById ? undefined : new Map(ordered.map((id, index) => [id, index]));
  return types.map((type, id) => {
    if (type === kinds.unused) return UNUSED_SCORE;
    if (type === kinds.byte || type === kinds.unknown) return 0;
    if (type !== kinds.normal) return ADDED_SCORE;
    if (spaces.has(id)) return LAST_SCORE;
    const place = places === undefined ? id - first : (places.get(id) ?? texts.length);
    return place === 0 ? 0 : -place;
  });
}

/** The runs of spaces at the end of the merges, and with them the single one. */
function lastSpaces(merged: readonly number[], texts: readonly string[]): Set<number> {
  const spaces = new Set<number>();
  for (const id of merged.toReversed()) {
    if (texts[id]?.replaceAll(SPACE, "") !== "") break;
    spaces.add(id);
  }
  return spaces;
}

function malformed(what: string): MlxError {
  return new MlxError("mlx_malformed", `tokenizer.json ${what}.`);
}
