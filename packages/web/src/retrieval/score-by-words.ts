// How well passages fit the words of a question: BM25, from MiniSearch.
import MiniSearch from "minisearch";

/** Words of scripts that put no spaces between them. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Only of words: over a long text, browsers need time that grows with its square. */
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** Shorter words, such as "is", are the beginning of too many others, or one letter away from them. */
const inexactLengthMin = 4;

/** Passages that are indexed at a time: a few milliseconds, after which the page can react. */
const chunkPassages = 20;

/** 1 for the passage that fits best, 0 for those that share no word with the question. */
export async function scoreByWords(
  passages: readonly string[],
  question: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<number[]> {
  const index = new MiniSearch<{ id: number; text: string }>({ fields: ["text"], tokenize: splitWords });
  const documents = passages.map((text, id) => ({ id, text }));
  for (let at = 0; at < documents.length; at += chunkPassages) {
    signal?.throwIfAborted();
    index.addAll(documents.slice(at, at + chunkPassages));
    await nextTask();
  }
  const isLong = (word: string) => word.length >= inexactLengthMin;
  const found = index.search(question, {
    // Inflected words and compounds begin alike; a letter may be mistyped. Both count less than the word itself.
    prefix: isLong,
    fuzzy: (word) => (isLong(word) ? 1 : false),
  });
  const best = found[0]?.score ?? 0;
  const scores = passages.map(() => 0);
  for (const { id, score } of found) scores[id] = score / best;
  return scores;
}

function splitWords(text: string): string[] {
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.flatMap((word) =>
    unspaced.test(word) ? Array.from(segmenter.segment(word), ({ segment }) => segment) : word,
  );
}

/** Lets the page react. In a hidden page, a timer would take a second. */
function nextTask(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.addEventListener("message", () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}
