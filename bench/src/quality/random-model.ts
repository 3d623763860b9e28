// A model of random weights for head sizes that no small model has. It generates nonsense: `bench kv` only measures how far each
// cache type is from 16 bits.
import path from "node:path";
import { makeTinyModel } from "@ingle/fixtures";

/**
 * Large enough for several layers of attention and a real vocabulary, small enough to be written in seconds. Two heads share
 * keys and values, as in most current models.
 */
const shape = {
  layers: 4,
  heads: 4,
  kvHeads: 2,
  embedding: 256,
  feedForward: 512,
  scoreDeviation: 2,
  weights: "f16",
} as const;
/** More than the default `--depth`. */
const contextLength = 32_768;

/** Its description in the report. */
export const randomModelNote =
  "weights are random: only how the divergences compare with each other means anything";

/** Writes it into the folder under a descriptive name. Returns its path. */
export async function writeRandomModel(
  folder: string,
  headSize: number,
  cancel: { signal?: AbortSignal } = {},
): Promise<string> {
  const name = `random-llama-heads-of-${headSize}`;
  const file = path.join(folder, `${name}.gguf`);
  await makeTinyModel(file, { ...shape, name, headSize, contextLength }, cancel);
  return file;
}
