// Reads the header of a GGUF file: metadata and the list of tensors, not their data. Used by the library before a model is
// fetched or registered. Nothing in the file is trusted: every length is checked against what is left
// and against a limit before memory is taken for it.
import { open, type FileHandle } from "node:fs/promises";

import { Cursor } from "./cursor.ts";
import { GgufError } from "./errors.ts";
import {
  aligned,
  ARRAY_CODE,
  bigintCodecs,
  boolCodec,
  GGUF_ALIGNMENT,
  GGUF_MAGIC,
  numberCodecs,
  STRING_CODE,
} from "./format.ts";
import type { GgufBigintType, GgufMetadata, GgufNumberType, GgufValue } from "./format.ts";
import { checkPlaces, readTensors, type GgufTensorInfo } from "./tensors.ts";

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
/** A page of memory is the largest that makes sense; some leave room for larger pages. */
const ALIGNMENT_MAX = 65_536;

export interface GgufHeader {
  metadata: GgufMetadata;
  tensors: readonly GgufTensorInfo[];
  /** The size of the header before padding, in bytes. */
  bytes: number;
}

/** What the first bytes of a file tell. */
export interface GgufBeginning {
  /** The keys that are there in full. */
  metadata: GgufMetadata;
  /** False when the bytes ended before the metadata did: more of them may tell more. */
  isWhole: boolean;
}

export interface ParseOptions {
  /** Size of the whole file: tensors that end behind it are then `gguf_truncated`. */
  fileBytes?: number;
  /** Replaces what is not UTF-8 in metadata values instead of refusing it. Tokenizers of some real models hold such. */
  isLenient?: boolean;
}

/** Reads the header of a file and checks that its tensors fit in it. Throws what `parseGguf` throws, and the system's errors. */
export async function readGguf(
  path: string,
  options: Pick<ParseOptions, "isLenient"> = {},
): Promise<GgufHeader> {
  return await readAsMuch(path, (bytes, fileBytes) => parseGguf(bytes, { ...options, fileBytes }));
}

/**
 * Reads of a file's metadata the keys that are `wanted`, and passes over the others without making anything of them: lists of a
 * tokenizer have some hundred thousand texts. Values that are not UTF-8 are read with replacements. Throws as `readGguf`.
 */
export async function readGgufKeys(path: string, wanted: (key: string) => boolean): Promise<GgufMetadata> {
  return await readAsMuch(path, (bytes) => parseGgufKeys(bytes, wanted));
}

/** Reads the beginning of a file, and more of it for as long as what parses it finds it cut off. */
async function readAsMuch<Parsed>(
  path: string,
  parse: (bytes: Uint8Array, fileBytes: number) => Parsed,
): Promise<Parsed> {
  await using file = await open(path, "r");
  const { size: fileBytes } = await file.stat();
  const bytesMax = Math.min(fileBytes, HEADER_BYTES_MAX);
  for (let size = FIRST_BYTES; ; size *= 4) {
    const bytes = await readFirst(file, Math.min(size, bytesMax));
    try {
      return parse(bytes, fileBytes);
    } catch (error) {
      if (size >= bytesMax || !(error instanceof GgufError) || error.code !== "gguf_truncated") throw error;
    }
  }
}

/** The same of the first bytes of a file. Throws what `parseGguf` throws. */
export function parseGgufKeys(bytes: Uint8Array, wanted: (key: string) => boolean): GgufMetadata {
  const cursor = new Cursor(bytes);
  const { keyCount } = readCounts(cursor);
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < keyCount; i++) {
    const key = cursor.string(KEY_BYTES_MAX);
    if (wanted(key)) addValue(cursor, metadata, key, true);
    else passValue(cursor);
  }
  return metadata;
}

/** Goes on behind a value. */
function passValue(cursor: Cursor): void {
  const code = cursor.uint32();
  if (code !== ARRAY_CODE) return passMany(cursor, code, 1);
  passMany(cursor, cursor.uint32(), cursor.count("items in an array", ARRAY_ITEMS_MAX));
}

function passMany(cursor: Cursor, code: number, count: number): void {
  if (code === STRING_CODE) {
    for (let i = 0; i < count; i++) cursor.passString(STRING_BYTES_MAX);
    return;
  }
  cursor.take(count * bytesOf(code));
}

function bytesOf(code: number): number {
  if (code === boolCodec.code) return boolCodec.bytes;
  const bigintType = bigintTypes.get(code);
  return bigintType === undefined ? numberCodecs[numberTypeOf(code)].bytes : bigintCodecs[bigintType].bytes;
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
  for (let i = 0; i < keyCount; i++) readKey(cursor, metadata, isLenient);
  const alignment = alignmentOf(metadata);
  const tensors = readTensors(cursor, tensorCount, alignment);
  const dataBytes =
    fileBytes === undefined ? undefined : Math.max(0, fileBytes - aligned(cursor.at, alignment));
  checkPlaces(tensors, dataBytes);
  return { metadata, tensors, bytes: cursor.at };
}

/**
 * Reads as many keys as the bytes hold in full; the list of tensors is not looked at. Values that are not UTF-8 are read
 * with replacements. Throws `GgufError` as `parseGguf` does, and `gguf_truncated` only when not even the counts are there.
 */
export function parseGgufBeginning(bytes: Uint8Array): GgufBeginning {
  const cursor = new Cursor(bytes);
  const { keyCount } = readCounts(cursor);
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < keyCount; i++) {
    try {
      readKey(cursor, metadata, true);
    } catch (error) {
      if (error instanceof GgufError && error.code === "gguf_truncated") return { metadata, isWhole: false };
      throw error;
    }
  }
  return { metadata, isWhole: true };
}

function readCounts(cursor: Cursor): { tensorCount: number; keyCount: number } {
  if (cursor.take(4).toString("latin1") !== GGUF_MAGIC) {
    throw new GgufError("not_gguf", "The file does not begin with the four letters GGUF.");
  }
  const version = cursor.uint32();
  if (version !== 2 && version !== 3) {
    throw new GgufError("gguf_version", `GGUF version ${version} cannot be read; 2 and 3 can.`);
  }
  const tensorCount = cursor.count("tensors", TENSORS_MAX);
  return { tensorCount, keyCount: cursor.count("metadata keys", KEYS_MAX) };
}

function readKey(cursor: Cursor, metadata: Map<string, GgufValue>, isLenient: boolean): void {
  addValue(cursor, metadata, cursor.string(KEY_BYTES_MAX), isLenient);
}

function addValue(cursor: Cursor, metadata: Map<string, GgufValue>, key: string, isLenient: boolean): void {
  if (metadata.has(key)) throw new GgufError("gguf_malformed", `The key ${key} occurs twice.`);
  metadata.set(key, readValue(cursor, isLenient));
}

function alignmentOf(metadata: GgufMetadata): number {
  const found = metadata.get("general.alignment");
  if (found === undefined) return GGUF_ALIGNMENT;
  const alignment = found.type === "uint32" && "value" in found ? found.value : 0;
  if (alignment > 0 && alignment <= ALIGNMENT_MAX && Number.isInteger(Math.log2(alignment))) return alignment;
  throw new GgufError(
    "gguf_malformed",
    `general.alignment must be a power of two of at most ${ALIGNMENT_MAX}, as uint32.`,
  );
}

const numberTypes = typesByCode<GgufNumberType>(numberCodecs);
const bigintTypes = typesByCode<GgufBigintType>(bigintCodecs);

function typesByCode<Name extends string>(codecs: Record<Name, { code: number }>): Map<number, Name> {
  const map = new Map<number, Name>();
  for (const name in codecs) map.set(codecs[name].code, name);
  return map;
}

function readValue(cursor: Cursor, isLenient: boolean): GgufValue {
  const code = cursor.uint32();
  if (code !== ARRAY_CODE) return readOne(cursor, code, isLenient);
  const itemCode = cursor.uint32();
  return readMany(cursor, itemCode, cursor.count("items in an array", ARRAY_ITEMS_MAX), isLenient);
}

function readOne(cursor: Cursor, code: number, isLenient: boolean): GgufValue {
  if (code === STRING_CODE) return { type: "string", value: cursor.string(STRING_BYTES_MAX, isLenient) };
  if (code === boolCodec.code) return { type: "bool", value: cursor.fixed(boolCodec) };
  const bigintType = bigintTypes.get(code);
  if (bigintType !== undefined) return { type: bigintType, value: cursor.fixed(bigintCodecs[bigintType]) };
  const type = numberTypeOf(code);
  return { type, value: cursor.fixed(numberCodecs[type]) };
}

function readMany(cursor: Cursor, code: number, count: number, isLenient: boolean): GgufValue {
  const many = <T>(bytesMin: number, read: () => T): T[] => {
    // Before the array is made: a lie about its length must not cost memory.
    cursor.need(count * bytesMin);
    return Array.from({ length: count }, read);
  };
  if (code === STRING_CODE)
    return { type: "string", values: many(8, () => cursor.string(STRING_BYTES_MAX, isLenient)) };
  if (code === boolCodec.code) return { type: "bool", values: many(1, () => cursor.fixed(boolCodec)) };
  const bigintType = bigintTypes.get(code);
  if (bigintType !== undefined)
    return { type: bigintType, values: many(8, () => cursor.fixed(bigintCodecs[bigintType])) };
  const type = numberTypeOf(code);
  return { type, values: many(numberCodecs[type].bytes, () => cursor.fixed(numberCodecs[type])) };
}

function numberTypeOf(code: number): GgufNumberType {
  const type = numberTypes.get(code);
  if (type === undefined) throw new GgufError("gguf_malformed", `${code} is no type of a metadata value.`);
  return type;
}
