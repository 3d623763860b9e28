// The files of the model that is worked on: found by any name that the library knows, and read to the end of their headers
// before native code sees them. Used by quantize-model.ts and compute-imatrix.ts.
import path from "node:path";
import { readGguf, type GgufHeader, type GgufTensorInfo } from "@ingle/gguf";
import { fileBytes } from "../library/file-size.ts";
import { fetchModel } from "../library/fetch-model.ts";
import { partNames } from "../library/gguf-files.ts";
import type { LibraryOptions } from "../library/library-options.ts";
import { locateModel } from "../library/locate.ts";
import { damagedModel, factsOf, type ModelFacts } from "../library/model-facts.ts";

export interface ModelFiles {
  /** Absolute; of a split model all parts, in order. */
  files: readonly [string, ...string[]];
  /** The file's name without part number and ending. */
  stem: string;
  facts: ModelFacts;
  /** Of all parts together. */
  tensors: readonly GgufTensorInfo[];
  headerBytes: number;
  sizeBytes: number;
}

/** Throws what `locateModel`, `fetchModel` and, for a damaged file, `peekFile` throw. */
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
    facts: factsOf(first, headers[0]?.metadata ?? new Map()),
    tensors: headers.flatMap(({ tensors }) => tensors),
    headerBytes: headers.reduce((sum, { bytes }) => sum + bytes, 0),
    sizeBytes: sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0),
  };
}

async function readHeader(file: string): Promise<GgufHeader> {
  try {
    return await readGguf(file, { isLenient: true });
  } catch (error) {
    throw damagedModel(file, error);
  }
}
