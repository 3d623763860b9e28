// How long the invented words of prompts.ts are for a model, so that a prompt "of 800 tokens" is one for every tokenizer.
// Used by the runner before the first round with a model.
import { load } from "@ingle/engine";
import { makePrompts } from "./prompts.ts";

/** Enough words that the mean is good to a few percent. */
const sampleWords = 1_000;

/** Loads the model in this process, tokenizes a sample and frees it again. Throws what `load` throws. */
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
