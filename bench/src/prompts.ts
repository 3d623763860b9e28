// New texts from a seed: invented words in random order. Results do not depend on particular prompts, and no cache can
// contain them.
import { load } from "@ingle/engine";
import { seededRandom } from "@ingle/fixtures";

const wordCount = 2_000;
/** Words in a sentence: minimum, and how many more at most. */
const sentenceWordsMin = 6;
const sentenceWordsSpread = 9;
const consonants = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "ch"];
const vowels = ["a", "e", "i", "o", "u", "ea", "ou"];
const endings = ["", "", "n", "r", "s", "t", "l"];

/** Draws texts one by one; equal seeds draw the same texts in the same order. */
export interface Prompts {
  /** A text of about this many tokens, for the model that the prompts were made for. */
  text(tokens: number): string;
  /** A number from 0 up to, but not including, 1. */
  fraction(): number;
}

/** `tokensPerWord` comes from `measureTokensPerWord` for the model. */
export function makePrompts(seed: number, tokensPerWord: number): Prompts {
  const random = seededRandom(seed, "prompts");
  const below = (limit: number): number => random.uint32() % limit;
  const pick = (list: readonly string[]): string => list[below(list.length)] ?? "";
  const word = (): string =>
    Array.from({ length: 1 + below(3) }, () => pick(consonants) + pick(vowels)).join("") + pick(endings);
  const words = Array.from({ length: wordCount }, word);

  const sentence = (length: number): string => {
    const text = Array.from({ length }, () => pick(words)).join(" ");
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  };
  const text = (tokens: number): string => {
    const sentences: string[] = [];
    let left = Math.max(1, Math.round(tokens / tokensPerWord));
    while (left > 0) {
      const length = Math.min(left, sentenceWordsMin + below(sentenceWordsSpread));
      sentences.push(sentence(length));
      left -= length;
    }
    return sentences.join(" ");
  };
  return { text, fraction: () => random.uint32() / 2 ** 32 };
}

/** A seed for one part of a run, derived from the run's seed and the part's name. */
export function deriveSeed(seed: number, part: string): number {
  return seededRandom(seed, part).uint32();
}

/** Enough words for a mean accurate to a few percent. */
const sampleWords = 1_000;

/** Loads the model, tokenizes a sample and frees it. Throws what `load` throws. */
export async function measureTokensPerWord(
  modelPath: string,
  options: { signal?: AbortSignal } = {},
): Promise<number> {
  const sample = makePrompts(0, 1).text(sampleWords);
  await using loaded = await load(modelPath, {
    contextLength: 64,
    parallel: 1,
    threads: 1,
    signal: options.signal,
  });
  const tokens = await loaded.tokenizer.encode(sample, { addSpecial: false });
  return tokens.length / sampleWords;
}
