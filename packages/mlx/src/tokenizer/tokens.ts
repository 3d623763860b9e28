// The tokens of a vocabulary by id: texts, kinds, merges and scores. The kinds follow get_vocab_base() and
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
  /** By id, a number of `kinds`. */
  types: number[];
}

/** The longest lists have about half a million; a GGUF header holds as many as this. */
const ENTRIES_MAX = 2 ** 21;
/** The score that llama.cpp's converter gives to tokens that are never a merge's result. */
const ADDED_SCORE = -1000;
/** The score of Llama's runs of spaces: they are merged last, from the left. */
const LAST_SCORE = -1e9;
const UNUSED_SCORE = -10_000;

/** A byte-level vocabulary. It is padded to `size` tokens, the model's number. */
export function byteLevelTokens(
  tokenizer: TokenizerJson,
  size: number,
): { tokens: TokenList; merges: string[] } {
  const vocabulary = readVocabulary(tokenizer);
  const needed = tokenizer.added_tokens.reduce((most, { id }) => Math.max(most, id + 1), vocabulary.length);
  if (needed > size) throw malformed(`has a token ${needed - 1}, but the model has only ${size}`);
  const tokens = listTokens(vocabulary, tokenizer.added_tokens, size);
  const merges = readMerges(tokenizer).map(([left, right]) => `${escaped(left)} ${escaped(right)}`);
  if (merges.length === 0) throw malformed("has no merges");
  return { tokens, merges };
}

/** A space separates the two parts of a merge; a space within a part is written like other bytes. */
function escaped(part: string): string {
  return part.replaceAll(" ", "\u0120");
}

/** A SentencePiece vocabulary. Tokens beyond `size`, for which the model has no embedding, are dropped. */
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
  return { tokens, scores: mergeScores(tokens, readMerges(tokenizer)) };
}

/** Texts by id, with gaps. */
function readVocabulary({ model }: TokenizerJson): (string | undefined)[] {
  const { vocab } = model;
  if (!isObject(vocab)) throw malformed("has no vocabulary");
  const entries = Object.entries(vocab); // ids are checked below
  if (entries.length === 0 || entries.length > ENTRIES_MAX)
    throw malformed(`has ${entries.length} tokens; 1 to ${ENTRIES_MAX} are allowed`);
  const texts: (string | undefined)[] = [];
  for (const [text, id] of entries) {
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0 || id >= ENTRIES_MAX)
      throw malformed(`has no valid id for the token "${text.slice(0, 64)}"`);
    if (text.length > TOKEN_LENGTH_MAX) throw malformed(`has a token of ${text.length} characters`);
    if (texts[id] !== undefined) throw malformed(`gives the id ${id} to two tokens`);
    texts[id] = text;
  }
  return texts;
}

function readMerges({ model }: TokenizerJson): (readonly [string, string])[] {
  const merges = model.merges ?? [];
  if (!Array.isArray(merges) || merges.length > ENTRIES_MAX) throw malformed("has no list of merges");
  return merges.map((merge: unknown) => {
    const pair: unknown = typeof merge === "string" ? splitMerge(merge) : merge;
    if (Array.isArray(pair) && pair.length === 2) {
      const [left, right] = pair as unknown[]; // checked in the next line
      if (isPart(left) && isPart(right)) return [left, right] as const;
    }
    throw malformed("has a merge that is not a pair of texts");
  });
}

/** Splits the older form: both texts with a space between them. */
function splitMerge(merge: string): string[] {
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
  // If two ids had the same text, llama.cpp would never produce the first.
  const repeated = texts.length - new Set(texts).size;
  if (repeated > 0) throw malformed(`has ${repeated} tokens twice`);
  return { texts, types };
}

/** Control tokens that some models mark as plain ones, as llama.cpp's converter recognizes them. */
function looksSpecial(text: string): boolean {
  return (
    ["<pad>", "<mask>", "<2mass>", "[@BOS@]"].includes(text) ||
    (text.startsWith("<|") && text.endsWith("|>")) ||
    (text.startsWith("<\uff5c") && text.endsWith("\uff5c>")) ||
    (text.startsWith("<unused") && text.endsWith(">"))
  );
}

/**
 * The scores of SentencePiece tokens: llama.cpp first merges the pair whose piece has the highest score. tokenizer.json has an
 * order of merges instead, made from the scores of the original file, where the n-th piece has the score −n. If the merges are
 * in the order of ids, these original scores are restored; otherwise the scores follow the merges.
 */
function mergeScores({ texts, types }: TokenList, merges: readonly (readonly [string, string])[]): number[] {
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
  const ranks = isById ? undefined : new Map(ordered.map((id, index) => [id, index]));
  return types.map((type, id) => {
    if (type === kinds.unused) return UNUSED_SCORE;
    if (type === kinds.byte || type === kinds.unknown) return 0;
    if (type !== kinds.normal) return ADDED_SCORE;
    if (spaces.has(id)) return LAST_SCORE;
    const rank = ranks === undefined ? id - first : (ranks.get(id) ?? texts.length);
    return rank === 0 ? 0 : -rank;
  });
}

/** The runs of spaces at the end of the merges. */
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
