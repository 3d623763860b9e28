// How many tokens the invented words of prompts.ts take with a model, so that a prompt of 800 tokens has that length for every
// tokenizer.
import { load } from "@ingle/engine";
import { makePrompts } from "./prompts.ts";

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
