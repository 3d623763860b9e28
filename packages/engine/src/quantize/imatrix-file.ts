// Checks an importance matrix before native code reads it: whether the file is one, is complete, and belongs to the model.
// llama.cpp's tools write two formats: GGUF, and an older one.
import { open, type FileHandle } from "node:fs/promises";
import { GgufError, readGguf, type GgufHeader, type GgufTensorInfo } from "@ingle/gguf";
import { errorCode, type EngineError, invalidRequest } from "../base/errors.ts";

/** The number of values for each tensor, by name. */
type Counts = Map<string, number>;

/** ggml's number of F32. */
const f32 = 0;
/** Large mixtures of experts have some thousands. */
const entriesMax = 65_536;
/** ggml's limit. */
const nameBytesMax = 63;

/** Throws `invalid_request`, and file system errors. */
export async function checkImatrix(file: string, tensors: readonly GgufTensorInfo[]): Promise<void> {
  const counts = await readCounts(file);
  let fitting = 0;
  for (const { name, shape } of tensors) {
    const found = counts.get(name);
    const [columns = 1, , matrices = 1] = shape;
    if (found === undefined || name === "token_embd.weight") continue;
    if (found !== columns * matrices) {
      const message = `${file} belongs to another model: it has ${found} values for ${name}, but this model has ${columns * matrices}.`;
      throw wrong(message, file);
    }
    fitting += 1;
  }
  if (fitting === 0)
    throw wrong(`${file} belongs to another model: it has no values for this model's tensors.`, file);
}

async function readCounts(file: string): Promise<Counts> {
  try {
    return countsInGguf(file, await readGguf(file, { isLenient: true }));
  } catch (error) {
    if (!(error instanceof GgufError)) throw missingOr(error, file);
    if (error.code !== "not_gguf") throw wrong(`${file} is damaged. ${error.message}`, file, error);
  }
  const handle = await open(file);
  try {
    return await countsInOlderFormat(file, handle);
  } finally {
    await handle.close();
  }
}

/** For each tensor NAME there are two tensors: NAME.in_sum2, the sums, and NAME.counts, the numbers of summands. */
function countsInGguf(file: string, { metadata, tensors }: GgufHeader): Counts {
  const has = (key: string, type: string, isList: boolean): boolean => {
    const value = metadata.get(key);
    return value?.type === type && "values" in value === isList;
  };
  if (
    !has("imatrix.datasets", "string", true) ||
    !has("imatrix.chunk_count", "uint32", false) ||
    !has("imatrix.chunk_size", "uint32", false)
  )
    throw wrong(`${file} is a GGUF file, but not an importance matrix.`, file);
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const counts: Counts = new Map();
  for (const { name, typeCode, shape } of tensors) {
    if (!name.endsWith(".in_sum2")) continue;
    const weights = name.slice(0, -".in_sum2".length);
    const divisors = byName.get(`${weights}.counts`);
    const numbers = elementCount(shape);
    const parts = elementCount(divisors?.shape ?? [0]);
    const isSound = typeCode === f32 && divisors?.typeCode === f32 && parts > 0 && numbers % parts === 0;
    if (!isSound) throw wrong(`${file} is damaged: its sums and counts for ${weights} do not match.`, file);
    counts.set(weights, numbers);
  }
  return counts;
}

/** An int32 number of entries; each has int32 length and name, int32 calls, int32 count and as many float32. More may follow. */
async function countsInOlderFormat(file: string, handle: FileHandle): Promise<Counts> {
  const { size } = await handle.stat();
  let at = 0;
  const take = async (length: number): Promise<Buffer> => {
    if (length > size - at) throw wrong(`${file} is not an importance matrix, or is truncated.`, file);
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, at);
    at += length;
    return buffer;
  };
  const count = async (min: number, max: number): Promise<number> => {
    const number = (await take(4)).readInt32LE();
    if (number < min || number > max) throw wrong(`${file} is not an importance matrix.`, file);
    return number;
  };
  const entries = await count(1, entriesMax);
  const counts: Counts = new Map();
  for (let entry = 0; entry < entries; entry += 1) {
    const name = (await take(await count(1, nameBytesMax))).toString("utf8");
    await take(4);
    const numbers = await count(1, Math.floor(size / 4));
    if (numbers * 4 > size - at) throw wrong(`${file} is a truncated importance matrix.`, file);
    at += numbers * 4;
    counts.set(name, numbers);
  }
  return counts;
}

function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

function missingOr(error: unknown, file: string): unknown {
  const code = errorCode(error);
  if (code === "ENOENT") return wrong(`There is no file ${file}.`, file, error);
  return code === "EISDIR" ? wrong(`${file} is a folder.`, file, error) : error;
}

function wrong(message: string, file: string, cause?: unknown): EngineError {
  return invalidRequest("imatrix", message, cause, { path: file });
}
