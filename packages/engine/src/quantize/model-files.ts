// The files of the model to quantize or measure: found by any name of the library, with headers that are read completely
// before native code reads them.
import path from "node:path";
import { readGguf, type GgufHeader, type GgufTensorInfo } from "@ingle/gguf";
import { fileBytes } from "../library/durable-files.ts";
import { fetchModel } from "../library/fetch-model.ts";
import { partNames } from "../library/gguf-files.ts";
import type { LibraryOptions } from "../library/library-options.ts";
import { locateModel } from "../library/locate.ts";
import { toModelError, toModelFacts, type ModelFacts } from "../library/model-facts.ts";

export interface ModelFiles {
  /** Absolute paths; all parts of a split model, in order. */
  files: readonly [string, ...string[]];
  /** The file's name without part number and extension. */
  stem: string;
  facts: ModelFacts;
  /** Those of all parts, like the sizes below. */
  tensors: readonly GgufTensorInfo[];
  headerBytes: number;
  sizeBytes: number;
}

/** Throws as `locateModel`, `fetchModel` and, for a damaged file, `peekFile`. */
export async function openModelFiles(model: string, options: LibraryOptions): Promise<ModelFiles> {
  const first = await fetchModel(await locateModel(model, options), options);
  const rest = partNames(path.basename(first)).slice(1);
  const files: [string, ...string[]] = [first, ...rest.map((name) => path.join(path.dirname(first), name))];
  const headers: GgufHeader[] = [];
  for (const file of files) headers.push(await readHeader(file));
  const sizes = await Promise.all(files.map(fileBytes));
  const stem = path.parse(first).name;
  return {
    files,
    stem: rest.length === 0 ? stem : stem.replace(/-\d{5}-of-\d{5}$/, ""),
    facts: toModelFacts(first, headers[0]?.metadata ?? new Map()),
    tensors: headers.flatMap(({ tensors }) => tensors),
    headerBytes: headers.reduce((sum, { bytes }) => sum + bytes, 0),
    sizeBytes: sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0),
  };
}

async function readHeader(file: string): Promise<GgufHeader> {
  try {
    return await readGguf(file, { isLenient: true });
  } catch (error) {
    throw toModelError(file, error);
  }
}
