// Needle in a haystack: a fact inside a long unrelated text, which the model is asked for at the end. Finding it shows that the
// cache still holds distant tokens accurately.
import type { LoadedModel } from "@ingle/engine";
import { seededRandom } from "@ingle/fixtures";

export interface Needle {
  prompt: string;
  /** The digits that a correct reply starts with. */
  digits: string;
}

interface NeedleOptions {
  /** The words of a book. */
  haystack: readonly string[];
  /** Words around each needle. */
  words: number;
  seed: number;
  /** Number of texts; each has a needle at each depth. */
  texts: number;
}

/** Depths of the needle as shares of the text. Deepest first, so that the common prefix of two texts is computed once. */
const depths = [0.9, 0.7, 0.5, 0.3, 0.1];
const places = ["harbour", "library", "museum", "station", "theatre", "market", "hospital", "garden"];
const replyTokens = 8;

/** All needles; equal seeds produce equal ones. */
export function makeNeedles({ haystack, words, seed, texts }: NeedleOptions): Needle[] {
  const random = seededRandom(seed, "needles");
  const below = (limit: number): number => random.uint32() % limit;
  return Array.from({ length: texts }, () => {
    const start = below(Math.max(1, haystack.length - words));
    const text = haystack.slice(start, start + words);
    const place = places[below(places.length)] ?? "";
    return depths.map((depth) =>
      needleAt(text, Math.round(words * depth), place, String(10_000 + below(90_000))),
    );
  }).flat();
}

function needleAt(text: readonly string[], at: number, place: string, digits: string): Needle {
  const fact = `The secret number of the ${place} is ${digits}.`;
  const hay = [...text.slice(0, at), fact, ...text.slice(at)].join(" ");
  return { prompt: `${hay}\n\nRemember: the secret number of the ${place} is`, digits };
}

/** Which needles the model finds, greedily. */
export async function findNeedles(
  { model }: Pick<LoadedModel, "model">,
  needles: readonly Needle[],
  signal: AbortSignal,
): Promise<boolean[]> {
  const found: boolean[] = [];
  for (const { prompt, digits } of needles) {
    const request = { prompt, temperature: 0, maxTokens: replyTokens };
    const { text } = await model.generate(request, { signal });
    found.push(text.trimStart().startsWith(digits));
  }
  return found;
}
