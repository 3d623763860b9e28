// The model files whose speed is measured. Random weights take as long as trained ones, so that none has to be downloaded. Files are
// kept beside the peers.
import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import path from "node:path";
import { computeImatrix, quantizationLevels, quantizeModel } from "@ingle/engine";
import { makeTinyModel, type TinyModelOptions } from "@ingle/fixtures";
import { peersFolder } from "../workspace.ts";

const folder = path.join(peersFolder, "models");

/** The sizes of real models with fewer layers: larger than caches, and made in a minute. */
const shapes = {
  /** TinyLlama 1.1B, with 6 of its 22 layers. */
  llama: {
    architecture: "llama",
    embedding: 2048,
    feedForward: 5632,
    layers: 6,
    heads: 32,
    kvHeads: 4,
    headSize: 64,
  },
  /** LFM2 1.2B, with 6 of its 16 layers. */
  lfm2: { architecture: "lfm2", embedding: 2048, feedForward: 8192, layers: 6, heads: 32, kvHeads: 8 },
  /** LFM2 8B A1B, with 6 of its 24 layers, and 4 of its 32 experts, of which a token uses 2 instead of 4. */
  lfm2moe: { architecture: "lfm2moe", embedding: 2048, feedForward: 1792, layers: 6, heads: 32, kvHeads: 8 },
} as const satisfies Record<string, TinyModelOptions>;

export type ShapeName = keyof typeof shapes;
export const shapeNames: readonly string[] = Object.keys(shapes);

export function isShapeName(name: string): name is ShapeName {
  return Object.hasOwn(shapes, name);
}

/** The path of a model of random weights, made now if it is not there. Throws as `makeTinyModel`. */
export async function randomModel(name: ShapeName, signal: AbortSignal): Promise<string> {
  const file = path.join(folder, `random-${name}.gguf`);
  await makeOnce(file, async (fresh) => {
    await makeTinyModel(fresh, { ...shapes[name], weights: "f16" }, { signal });
  });
  return file;
}

/**
 * The path of `model` in this quantization, made now if it is not there. `checksum` is the model's. Levels that need an importance
 * matrix get one of hardly any text: figures of speed do not depend on it. Throws as `quantizeModel` and `computeImatrix`.
 */
export async function quantizedModel(
  model: string,
  level: string,
  { checksum, threads, signal }: { checksum: string; threads: number; signal: AbortSignal },
): Promise<string> {
  const stem = path.join(folder, `${path.parse(model).name}-${checksum}`);
  const file = `${stem}-${level}.gguf`;
  await makeOnce(file, async (output) => {
    const options = { overwrite: true, threads, signal };
    const needsImatrix = quantizationLevels.some((one) => one.name === level && one.needsImatrix);
    const imatrix = needsImatrix ? `${stem}.imatrix.gguf` : undefined;
    if (imatrix !== undefined) {
      await makeOnce(imatrix, async (fresh) => {
        await computeImatrix(model, imatrixText, { output: fresh, ...options });
      });
    }
    await quantizeModel(model, { to: level, output, imatrix, ...options });
  });
  return file;
}

/** More than a chunk of 512 tokens. */
const imatrixText = "The quick brown fox jumps over the lazy dog. ".repeat(100);

async function makeOnce(file: string, make: (fresh: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) return;
  await mkdir(folder, { recursive: true });
  const fresh = `${file}.new.gguf`;
  await make(fresh);
  await rename(fresh, file);
}
