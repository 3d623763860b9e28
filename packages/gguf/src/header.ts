// Reads the header of a GGUF file: metadata and the list of tensors, not their data. Nothing in the file is trusted: every
// length is checked against the bytes that are left and against a limit before memory is allocated for it.
import { open, type FileHandle } from "node:fs/promises";

import { Cursor } from "./cursor.ts";
import { GgufError } from "./errors.ts";
import {
  aligned,
  ARRAY_CODE,
  bigintCodecs,
  bigintTypes,
  boolCodec,
  GGUF_ALIGNMENT,
  GGUF_MAGIC,
  numberCodecs,
  getNumber,
  numberTypes,
  STRING_CODE,
} from "./format.ts";
import type { Codec, GgufMetadata, GgufValue } from "./format.ts";
import { checkOffsets, readTensors, type GgufTensorInfo } from "./tensors.ts";

/** The largest tokenizers (a quarter of a million tokens and their merges) take 16 MiB. */
export const HEADER_BYTES_MAX = 64 * 1024 * 1024;
/** Holds the whole header of a projector, and of models with small vocabularies. */
const FIRST_BYTES = 1024 * 1024;
/** Real models have 20 to 60 keys. */
const KEYS_MAX = 4096;
/** Large mixtures of experts have some ten thousand. */
const TENSORS_MAX = 65_536;
const KEY_BYTES_MAX = 1024;
/** Long chat templates take about 100 KiB. */
const STRING_BYTES_MAX = 1024 * 1024;
/** The longest list of merges has about half a million entries. */
const ARRAY_ITEMS_MAX = 2 ** 21;
/** The largest page size of any system. */
const ALIGNMENT_MAX = 65_536;

export interface GgufHeader {
  metadata: GgufMetadata;
  tensors: readonly GgufTensorInfo[];
  /** The size of the header before padding, in bytes. */
  bytes: number;
}

/** The metadata in the first bytes of a file. */
export interface PartialGguf {
  /** The keys that the bytes contain completely. */
  metadata: GgufMetadata;
  /** False if the bytes ended before the metadata did: more bytes may hold more keys. */
  isComplete: boolean;
}

export interface ParseOptions {
  /** Size of the whole file: tensors that end after it are then `gguf_truncated`. */
  fileBytes?: number;
  /** Replaces invalid UTF-8 in metadata values instead of refusing it. Tokenizers of some real models contain it. */
  isLenient?: boolean;
}

/** Reads the header of a file and checks that its tensors fit in it. Throws as `parseGguf`, and file system errors. */
export async function readGguf(
  path: string,
  options: Pick<ParseOptions, "isLenient"> = {},
): Promise<GgufHeader> {
  return await parseStart(path, (bytes, fileBytes) => parseGguf(bytes, { ...options, fileBytes }));
}

/**
 * Reads only the `wanted` metadata keys, and skips the others without creating their values: a tokenizer's lists have some
 * hundred thousand texts. Invalid UTF-8 is replaced. Throws as `readGguf`.
 */
export async function readGgufKeys(path: string, wanted: (key: string) => boolean): Promise<GgufMetadata> {
  return await parseStart(path, (bytes) => parseGgufKeys(bytes, wanted));
}

/** Reads the first bytes of a file, and more of it as long as `parse` finds them truncated. */
async function parseStart<Parsed>(
  path: string,
  parse: (bytes: Uint8Array, fileBytes: number) => Parsed,
): Promise<Parsed> {
  const file = await open(path, "r");
  try {
    const { size: fileBytes } = await file.stat();
    const bytesMax = Math.min(fileBytes, HEADER_BYTES_MAX);
    for (let size = FIRST_BYTES; ; size *= 4) {
      const bytes = await readFirst(file, Math.min(size, bytesMax));
      try {
        return parse(bytes, fileBytes);
      } catch (error) {
        if (size >= bytesMax || !isTruncated(error)) throw error;
      }
    }
  } finally {
    await file.close();
  }
}

async function readFirst(file: FileHandle, size: number): Promise<Uint8Array> {
  const bytes = Buffer.alloc(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(bytes, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/**
 * Reads a header from the first bytes of a file (all of it, or at least the header).
 * Throws `GgufError`: `not_gguf`, `gguf_version`, `gguf_truncated`, `gguf_malformed` or `gguf_limit`.
 */
export function parseGguf(
  bytes: Uint8Array,
  { fileBytes, isLenient = false }: ParseOptions = {},
): GgufHeader {
  const cursor = new Cursor(bytes);
  const { tensorCount, keyCount } = readCounts(cursor);
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < keyCount; i++) addValue(cursor, metadata, cursor.string(KEY_BYTES_MAX), isLenient);
  const alignment = readAlignment(metadata);
  const tensors = readTensors(cursor, tensorCount, alignment);
  const dataBytes =
    fileBytes === undefined ? undefined : Math.max(0, fileBytes - aligned(cursor.at, alignment));
  checkOffsets(tensors, dataBytes);
  return { metadata, tensors, bytes: cursor.at };
}

/** `readGgufKeys` for the first bytes of a file. Throws as `parseGguf`. */
export function parseGgufKeys(bytes: Uint8Array, wanted: (key: string) => boolean): GgufMetadata {
  const cursor = new Cursor(bytes);
  const { keyCount } = readCounts(cursor);
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < keyCount; i++) {
    const key = cursor.string(KEY_BYTES_MAX);
    if (wanted(key)) addValue(cursor, metadata, key, true);
    else skipValue(cursor);
  }
  return metadata;
}

/**
 * Reads as many keys as the bytes contain completely, but not the list of tensors. Invalid UTF-8 is replaced. Throws as
 * `parseGguf`, but `gguf_truncated` only if even the counts are missing.
 */
export function parsePartialGguf(bytes: Uint8Array): PartialGguf {
  const cursor = new Cursor(bytes);
  const { keyCount } = readCounts(cursor);
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < keyCount; i++) {
    try {
      addValue(cursor, metadata, cursor.string(KEY_BYTES_MAX), true);
    } catch (error) {
      if (isTruncated(error)) return { metadata, isComplete: false };
      throw error;
    }
  }
  return { metadata, isComplete: true };
}

function isTruncated(error: unknown): boolean {
  return error instanceof GgufError && error.code === "gguf_truncated";
}

function readCounts(cursor: Cursor): { tensorCount: number; keyCount: number } {
  if (cursor.take(4).toString("latin1") !== GGUF_MAGIC) {
    throw new GgufError("not_gguf", "Not a GGUF file: it does not start with the letters GGUF.");
  }
  const version = cursor.uint32();
  if (version !== 2 && version !== 3) {
    throw new GgufError("gguf_version", `GGUF version ${version} is not supported; versions 2 and 3 are.`);
  }
  const tensorCount = cursor.count("tensors", TENSORS_MAX);
  return { tensorCount, keyCount: cursor.count("metadata keys", KEYS_MAX) };
}

function addValue(cursor: Cursor, metadata: Map<string, GgufValue>, key: string, isLenient: boolean): void {
  if (metadata.has(key)) throw new GgufError("gguf_malformed", `The key ${key} occurs twice.`);
  metadata.set(key, readValue(cursor, isLenient));
}

function readAlignment(metadata: GgufMetadata): number {
  if (!metadata.has("general.alignment")) return GGUF_ALIGNMENT;
  const alignment = getNumber(metadata, "general.alignment", "uint32") ?? 0;
  if (alignment > 0 && alignment <= ALIGNMENT_MAX && Number.isInteger(Math.log2(alignment))) return alignment;
  throw new GgufError(
    "gguf_malformed",
    `general.alignment must be a power of two of at most ${ALIGNMENT_MAX}, as uint32.`,
  );
}

/** A type whose values all have the same size. */
interface FixedType {
  bytes: number;
  readOne: (cursor: Cursor) => GgufValue;
  readMany: (cursor: Cursor, length: number) => GgufValue;
}

/** Every type but strings and arrays, by its code. */
const fixedTypes: ReadonlyMap<number, FixedType> = new Map([
  ...numberTypes.map((type) =>
    fixedTypeEntry(
      numberCodecs[type],
      (value) => ({ type, value }),
      (values) => ({ type, values }),
    ),
  ),
  ...bigintTypes.map((type) =>
    fixedTypeEntry(
      bigintCodecs[type],
      (value) => ({ type, value }),
      (values) => ({ type, values }),
    ),
  ),
  fixedTypeEntry(
    boolCodec,
    (value) => ({ type: "bool", value }),
    (values) => ({ type: "bool", values }),
  ),
]);

function fixedTypeEntry<T>(
  codec: Codec<T>,
  one: (value: T) => GgufValue,
  many: (values: T[]) => GgufValue,
): [number, FixedType] {
  return [
    codec.code,
    {
      bytes: codec.bytes,
      readOne: (cursor) => one(cursor.fixed(codec)),
      readMany: (cursor, length) => many(Array.from({ length }, () => cursor.fixed(codec))),
    },
  ];
}

function fixedType(code: number): FixedType {
  const found = fixedTypes.get(code);
  if (found === undefined) throw new GgufError("gguf_malformed", `Unknown metadata value type ${code}.`);
  return found;
}

function readValue(cursor: Cursor, isLenient: boolean): GgufValue {
  const code = cursor.uint32();
  if (code === ARRAY_CODE) return readArray(cursor, isLenient);
  if (code === STRING_CODE) return { type: "string", value: cursor.string(STRING_BYTES_MAX, isLenient) };
  return fixedType(code).readOne(cursor);
}

function readArray(cursor: Cursor, isLenient: boolean): GgufValue {
  const code = cursor.uint32();
  const length = cursor.count("items in an array", ARRAY_ITEMS_MAX);
  // The bytes are checked before the array is made: a false length must not cost memory.
  if (code === STRING_CODE) {
    cursor.need(length * 8);
    return {
      type: "string",
      values: Array.from({ length }, () => cursor.string(STRING_BYTES_MAX, isLenient)),
    };
  }
  const type = fixedType(code);
  cursor.need(length * type.bytes);
  return type.readMany(cursor, length);
}

function skipValue(cursor: Cursor): void {
  const code = cursor.uint32();
  const [itemCode, count] =
    code === ARRAY_CODE ? [cursor.uint32(), cursor.count("items in an array", ARRAY_ITEMS_MAX)] : [code, 1];
  if (itemCode !== STRING_CODE) cursor.take(count * fixedType(itemCode).bytes);
  else for (let i = 0; i < count; i++) cursor.skipString(STRING_BYTES_MAX);
}
