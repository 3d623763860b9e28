// Facts from a model's header, known before its weights are read or downloaded, and the memory it will need.
import { open } from "node:fs/promises";
import { GgufError, HEADER_BYTES_MAX, parsePartialGguf, getString, type GgufMetadata } from "@ingle/gguf";
import { contextSize, parallelDefault } from "../base/context-size.ts";
import { isControlVector } from "./adapters/control-vector.ts";
import { EngineError } from "../base/errors.ts";
import { quantizationInHeader } from "./quantization.ts";

export interface ModelFacts {
  /** Such as `lfm2` or `llama`. */
  architecture: string;
  /** `general.name`, if the file has one. */
  name: string | undefined;
  quantization: string | undefined;
  /** The training context, in tokens. */
  contextLength: number | undefined;
  /** Bytes per token in a 16-bit KV cache; undefined if the header does not tell. */
  cacheBytesPerToken: number | undefined;
  /** Whether it computes embeddings instead of generating text. */
  isEmbedder: boolean;
  /** Experts of each layer; 0 for models without. */
  experts: number;
  /** Whether the file is an adapter of a model. */
  isAdapter: boolean;
}

/** Returns the bytes of a file from `start` up to `end`, or fewer at its end. */
type ReadRange = (start: number, end: number) => Promise<Uint8Array>;

/** Contains everything before the tokenizer in nearly every file. */
const firstBytes = 256 * 1024;
/** No model has more layers, heads or larger sizes. */
const countMax = 2 ** 24;
const halfBytes = 2;
/** An estimate of compute buffers, and of everything else that is neither weights nor cache. */
const computeBytes = 256 * 1024 * 1024;

/** Reads as little of the file as possible. Throws `model_invalid` for a damaged file, and for one that is not GGUF. */
export async function peekFacts(what: string, readRange: ReadRange): Promise<ModelFacts> {
  let bytes: Uint8Array = new Uint8Array(0);
  for (let wanted = firstBytes; ; wanted *= 4) {
    const more = await readRange(bytes.length, Math.min(wanted, HEADER_BYTES_MAX));
    bytes = Buffer.concat([bytes, more]);
    const isAll = more.length === 0 || bytes.length >= HEADER_BYTES_MAX;
    const metadata = metadataIn(what, bytes, isAll);
    if (metadata !== undefined) return toModelFacts(what, metadata);
  }
}

/** `peekFacts` for a file on this machine. Throws `model_invalid`, and file system errors. */
export async function peekFile(path: string): Promise<ModelFacts> {
  const file = await open(path, "r");
  try {
    return await peekFacts(path, async (start, end) => {
      const bytes = Buffer.alloc(end - start);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
      return bytes.subarray(0, bytesRead);
    });
  } finally {
    await file.close();
  }
}

/** Throws `model_invalid` for metadata without a valid architecture. */
export function toModelFacts(what: string, metadata: GgufMetadata): ModelFacts {
  const architecture = nonEmptyString(metadata, "general.architecture");
  // It is printed to terminals, so it must not contain control characters.
  if (architecture === undefined || !/^[A-Za-z0-9][\w.-]{0,63}$/.test(architecture))
    throw new EngineError("model_invalid", `${what} has no valid general.architecture.`);
  return {
    architecture,
    name: nonEmptyString(metadata, "general.name"),
    quantization: quantizationInHeader(metadata),
    isAdapter: nonEmptyString(metadata, "general.type") === "adapter" || isControlVector(metadata),
    experts: countIn(metadata, `${architecture}.expert_count`) ?? 0,
    contextLength: countIn(metadata, `${architecture}.context_length`),
    cacheBytesPerToken: cacheBytesOfToken(metadata, architecture),
    // 0 means no pooling.
    isEmbedder: (countIn(metadata, `${architecture}.pooling_type`) ?? 0) !== 0,
  };
}

/** An estimate of the memory for the defaults of `load()`: weights, cache and compute buffers. */
export function memoryNeed(
  sizeBytes: number,
  facts: Pick<ModelFacts, "contextLength" | "cacheBytesPerToken">,
): number {
  const { contextLength, cacheBytesPerToken = 0 } = facts;
  const cells =
    contextLength === undefined ? 0 : contextSize({ parallel: parallelDefault }, contextLength).cells;
  return sizeBytes + cells * cacheBytesPerToken + computeBytes;
}

/** Converts a GgufError to an EngineError; returns other errors unchanged. */
export function toModelError(what: string, error: unknown): unknown {
  if (!(error instanceof GgufError)) return error;
  const message =
    error.code === "not_gguf" ? `${what} is not a GGUF file.` : `${what} is damaged. ${error.message}`;
  return new EngineError("model_invalid", message, { cause: error, details: { reason: error.code } });
}

/** The metadata, if the bytes contain enough of it. `isAll`: there are no more bytes. */
function metadataIn(what: string, bytes: Uint8Array, isAll: boolean): GgufMetadata | undefined {
  try {
    const { metadata, isComplete } = parsePartialGguf(bytes);
    // The facts precede the tokenizer, whose lists are long; in a file of another order everything is read.
    if (isComplete || [...metadata.keys()].some((key) => key.startsWith("tokenizer."))) return metadata;
  } catch (error) {
    if (isAll || !(error instanceof GgufError) || error.code !== "gguf_truncated")
      throw toModelError(what, error);
  }
  if (isAll) throw new EngineError("model_invalid", `${what} is damaged: the file ends within its header.`);
  return undefined;
}

/** The keys and values of all attention layers. A layer without KV heads (a convolution) stores nothing per token. */
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

/** The metadata has one number for all layers, or an array with one per layer. */
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

/** A string that is not empty. */
export function nonEmptyString(metadata: GgufMetadata, key: string): string | undefined {
  const text = getString(metadata, key);
  return text === "" ? undefined : text;
}
