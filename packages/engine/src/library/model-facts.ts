// What a model's header tells before its weights are read or fetched, and the memory it will need. Used by the hub's peek,
// by import and by the list.
import { open } from "node:fs/promises";
import { GgufError, HEADER_BYTES_MAX, parsePartialGguf, type GgufMetadata } from "@ingle/gguf";
import { contextSize, parallelDefault } from "../context-size.ts";
import { EngineError } from "../errors.ts";
import { quantizationInHeader } from "./quantization.ts";

export interface ModelFacts {
  /** Such as `lfm2` or `llama`. */
  architecture: string;
  /** `general.name`; undefined when the file gives none. */
  name: string | undefined;
  quantization: string | undefined;
  /** Tokens of context that the model was trained for. */
  contextLength: number | undefined;
  /** What the state of one token takes in the cache, with 16-bit numbers; undefined where the header does not tell. */
  cacheBytesPerToken: number | undefined;
  /** Made for vectors of texts, and not for answers. */
  isEmbedder: boolean;
}

/** Gives the bytes of a file from `start` up to `end`, or fewer where it ends. */
export type ReadRange = (start: number, end: number) => Promise<Uint8Array>;

/** All that comes before the tokenizer in nearly every file. */
const firstBytes = 256 * 1024;
/** Numbers of layers, heads and sizes beyond this belong to no model. */
const countMax = 2 ** 24;
/** Bytes of one 16-bit number. */
const halfBytes = 2;
/** What one turn is computed in, and everything else that is neither weights nor cache. An estimate. */
const computeBytes = 256 * 1024 * 1024;

/** Reads as little of the file as tells the facts. Throws `model_invalid` for a file that is damaged or no GGUF. */
export async function peekFacts(what: string, readRange: ReadRange): Promise<ModelFacts> {
  let bytes: Uint8Array = new Uint8Array(0);
  for (let wanted = firstBytes; ; wanted *= 4) {
    const more = await readRange(bytes.length, Math.min(wanted, HEADER_BYTES_MAX));
    bytes = Buffer.concat([bytes, more]);
    const isAll = more.length === 0 || bytes.length >= HEADER_BYTES_MAX;
    const metadata = beginningOf(what, bytes, isAll);
    if (metadata !== undefined) return factsOf(what, metadata);
  }
}

/** As `peekFacts`, for a file of this machine. Throws the system's errors beside `model_invalid`. */
export async function peekFile(path: string): Promise<ModelFacts> {
  await using file = await open(path, "r");
  return await peekFacts(path, async (start, end) => {
    const bytes = Buffer.alloc(end - start);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
    return bytes.subarray(0, bytesRead);
  });
}

/** Throws `model_invalid` for metadata of something that is no model. */
export function factsOf(what: string, metadata: GgufMetadata): ModelFacts {
  const architecture = textIn(metadata, "general.architecture");
  // It is shown in terminals: nothing that moves a cursor is a name.
  if (architecture === undefined || !/^[A-Za-z0-9][\w.-]{0,63}$/.test(architecture))
    throw new EngineError("model_invalid", `${what} does not say which architecture it has.`);
  return {
    architecture,
    name: textIn(metadata, "general.name"),
    quantization: quantizationInHeader(metadata),
    contextLength: countIn(metadata, `${architecture}.context_length`),
    cacheBytesPerToken: cacheBytesOfToken(metadata, architecture),
    // How it makes one vector of many; 0 is "not at all".
    isEmbedder: (countIn(metadata, `${architecture}.pooling_type`) ?? 0) !== 0,
  };
}

/** Memory that the model needs with the defaults of `load()`: weights, cache and room to compute in. An estimate. */
export function memoryNeed(
  sizeBytes: number,
  facts: Pick<ModelFacts, "contextLength" | "cacheBytesPerToken">,
): number {
  const { contextLength, cacheBytesPerToken = 0 } = facts;
  const cells =
    contextLength === undefined ? 0 : contextSize({ parallel: parallelDefault }, contextLength).cells;
  return sizeBytes + cells * cacheBytesPerToken + computeBytes;
}

/** The error of ours for one of the reader's; anything else comes back unchanged. */
export function damagedModel(what: string, error: unknown): unknown {
  if (!(error instanceof GgufError)) return error;
  const message =
    error.code === "not_gguf" ? `${what} is no GGUF file.` : `${what} is damaged. ${error.message}`;
  return new EngineError("model_invalid", message, { cause: error, details: { reason: error.code } });
}

/** The metadata, when these bytes hold enough of it. `isAll`: more will not come. */
function beginningOf(what: string, bytes: Uint8Array, isAll: boolean): GgufMetadata | undefined {
  try {
    const { metadata, isComplete } = parsePartialGguf(bytes);
    // The facts stand before the tokenizer, whose lists are long; in a file of another order all of it is read.
    if (isComplete || [...metadata.keys()].some((key) => key.startsWith("tokenizer."))) return metadata;
  } catch (error) {
    if (isAll || !(error instanceof GgufError) || error.code !== "gguf_truncated")
      throw damagedModel(what, error);
  }
  if (isAll) throw new EngineError("model_invalid", `${what} is damaged. The file ends within its header.`);
  return undefined;
}

/** Keys and values of all attention layers; a layer without heads of its own (a convolution) keeps nothing a token. */
function cacheBytesOfToken(metadata: GgufMetadata, architecture: string): number | undefined {
  const count = (key: string): number | undefined => countIn(metadata, `${architecture}.${key}`);
  const layers = count("block_count");
  const heads = count("attention.head_count");
  const width = count("embedding_length");
  const headSize = heads === undefined || width === undefined || heads === 0 ? undefined : width / heads;
  const keys = count("attention.key_length") ?? headSize;
  const values = count("attention.value_length") ?? headSize;
  const kvKey = `${architecture}.attention.head_count_kv`;
  const kvHeads = metadata.has(kvKey) ? headsOfAllLayers(metadata, kvKey, layers) : product(heads, layers);
  if (keys === undefined || values === undefined || kvHeads === undefined) return undefined;
  return kvHeads * (keys + values) * halfBytes;
}

/** One number for all layers, or a list with one for each. */
function headsOfAllLayers(
  metadata: GgufMetadata,
  key: string,
  layers: number | undefined,
): number | undefined {
  const found = metadata.get(key);
  if (found === undefined || found.type === "string" || found.type === "bool") return undefined;
  if ("value" in found) return product(countIn(metadata, key), layers);
  const sum = [...found.values].reduce<number>((total, value) => total + Number(value), 0);
  return sum >= 0 && sum <= countMax ? sum : undefined;
}

function product(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a * b;
}

function countIn(metadata: GgufMetadata, key: string): number | undefined {
  const found = metadata.get(key);
  if (found === undefined || !("value" in found)) return undefined;
  const value = typeof found.value === "bigint" ? Number(found.value) : found.value;
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= countMax
    ? value
    : undefined;
}

/** A value that is a text and not empty. */
export function textIn(metadata: GgufMetadata, key: string): string | undefined {
  const found = metadata.get(key);
  return found?.type === "string" && "value" in found && found.value !== "" ? found.value : undefined;
}
