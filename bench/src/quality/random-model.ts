// A model of random weights for sizes of heads that no small model has. It says nothing that makes sense: what `bench kv`
// finds with it is only how far each kind of cache is from 16 bits.
import path from "node:path";
import { makeTinyModel } from "@ingle/fixtures";

/**
 * Large enough that rounding passes through several layers of attention and into a real vocabulary, small enough to be
 * written in seconds. Keys and values are shared by two heads each, as in most models of today.
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
/** More than `--depth` is by default. */
const contextLength = 32_768;

/** What is written into a report about it. */
export const randomModelNote =
  "weights are random: only how the divergences compare with each other means anything";

/** Writes it into the folder, under a name that says what it is. Returns its path. */
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
