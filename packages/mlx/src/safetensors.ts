// Reads the headers of safetensors files and trusts nothing in them. The format: the header's length (uint64, little-endian),
// the header (a JSON object: name -> { dtype, shape, data_offsets }, and __metadata__ with strings), then the tensors'
// bytes without gaps. Specification: the README of huggingface/safetensors.
import { open } from "node:fs/promises";
import path from "node:path";

import { z } from "zod";

import { MlxError } from "./errors.ts";

/** The format allows 100 MB; the largest real headers, of mixtures with unstacked experts, have about 15. */
const SAFETENSORS_HEADER_BYTES_MAX = 32 * 1024 * 1024;
/** Mixtures of experts that are not stacked have some ten thousand, with three tensors for each. */
const TENSORS_MAX = 262_144;
const NAME_LENGTH_MAX = 1024;
const DIMENSIONS_MAX = 8;

/** Bytes of one element. */
const dtypeBytes = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E4M3: 1,
  F8_E5M2: 1,
  F8_E8M0: 1,
  U16: 2,
  I16: 2,
  F16: 2,
  BF16: 2,
  U32: 4,
  I32: 4,
  F32: 4,
  U64: 8,
  I64: 8,
  F64: 8,
} as const;
export type Dtype = keyof typeof dtypeBytes;

export interface SafetensorsTensor {
  readonly name: string;
  readonly dtype: Dtype;
  /** The row length last. */
  readonly shape: readonly number[];
  /** Where the data starts, in bytes from the start of the file. */
  readonly offset: number;
  readonly sizeBytes: number;
}

interface SafetensorsHeader {
  /** By name. */
  readonly tensors: ReadonlyMap<string, SafetensorsTensor>;
  /** The contents of `__metadata__`, such as `format`: `mlx`. */
  readonly metadata: ReadonlyMap<string, string>;
}

/** No real file needs a size that a double cannot hold exactly. */
const count = z.int().nonnegative();
const Entry = z.strictObject({
  dtype: z.custom<Dtype>((value) => typeof value === "string" && Object.hasOwn(dtypeBytes, value)),
  shape: z.array(count).max(DIMENSIONS_MAX),
  data_offsets: z.tuple([count, count]),
});
const Metadata = z.record(z.string(), z.string());

/** Throws `MlxError`: `mlx_malformed`, `mlx_truncated` or `mlx_limit`, and file system errors. */
export async function readSafetensors(file: string): Promise<SafetensorsHeader> {
  const handle = await open(file, "r");
  const read = async (start: number, length: number): Promise<Buffer> => {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await handle.read(bytes, 0, length, start);
    return bytes.subarray(0, bytesRead);
  };
  try {
    const { size } = await handle.stat();
    const name = path.basename(file);
    const headerBytes = headerLength(name, await read(0, 8), size);
    return parseSafetensorsHeader(name, await read(8, headerBytes), size);
  } finally {
    await handle.close();
  }
}

function headerLength(file: string, start: Buffer, fileBytes: number): number {
  if (start.length < 8) throw new MlxError("mlx_truncated", `${file} ends before its header.`);
  const length = start.readBigUInt64LE();
  if (length > BigInt(SAFETENSORS_HEADER_BYTES_MAX)) {
    const message = `${file} claims a header of ${length} bytes; at most ${SAFETENSORS_HEADER_BYTES_MAX} are allowed. Is it a safetensors file?`;
    throw new MlxError("mlx_limit", message);
  }
  if (8 + Number(length) > fileBytes) throw new MlxError("mlx_truncated", `${file} ends within its header.`);
  return Number(length);
}

/** Reads the JSON of a header. `file` is the name for messages, `fileBytes` the size of the whole file. */
export function parseSafetensorsHeader(
  file: string,
  header: Uint8Array,
  fileBytes: number,
): SafetensorsHeader {
  const json = parseObject(file, header);
  const dataStart = 8 + header.length;
  const tensors = new Map<string, SafetensorsTensor>();
  let metadata: ReadonlyMap<string, string> = new Map();
  for (const [name, value] of Object.entries(json)) {
    if (name === "__metadata__") metadata = readMetadata(file, value);
    else tensors.set(name, readTensor(file, name, value, dataStart));
  }
  checkOffsets(file, [...tensors.values()], dataStart, fileBytes);
  return { tensors, metadata };
}

function parseObject(file: string, header: Uint8Array): object {
  let text: string;
  let json: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(header);
    json = JSON.parse(text);
  } catch (cause) {
    throw new MlxError("mlx_malformed", `The header of ${file} is not valid JSON.`, { cause });
  }
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw malformed(file, "its header is not an object");
  const names = countKeys(text);
  if (names > TENSORS_MAX) throw new MlxError("mlx_limit", `${file} lists more than ${TENSORS_MAX} tensors.`);
  // JSON.parse keeps the last of two entries with one name; other readers may keep the first.
  if (names !== Object.keys(json).length) throw malformed(file, "a tensor is listed twice");
  return json;
}

/** The number of keys in the text of the outermost object, repeated ones included. The text is valid JSON. */
function countKeys(text: string): number {
  let depth = 0;
  let keys = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"') at = endOfString(text, at);
    else if (letter === "{" || letter === "[") depth += 1;
    else if (letter === "}" || letter === "]") depth -= 1;
    else if (letter === ":" && depth === 1) keys += 1;
  }
  return keys;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

function readMetadata(file: string, value: unknown): ReadonlyMap<string, string> {
  const metadata = Metadata.safeParse(value);
  if (!metadata.success) throw malformed(file, "its __metadata__ is not an object of strings");
  return new Map(Object.entries(metadata.data));
}

function readTensor(file: string, name: string, value: unknown, dataStart: number): SafetensorsTensor {
  if (name === "" || name.length > NAME_LENGTH_MAX || /\p{Cc}/u.test(name))
    throw malformed(file, `a tensor's name is empty, too long, or has control characters`);
  const entry = Entry.safeParse(value);
  if (!entry.success) throw malformed(file, `the entry of ${name} is invalid`);
  const { dtype, shape, data_offsets: offsets } = entry.data;
  const [start, end] = offsets;
  // A floating-point product that is not exact is at least as large as the largest safe integer.
  const sizeBytes = shape.reduce((product, size) => product * size, dtypeBytes[dtype]);
  if (start > end || end - start !== sizeBytes) {
    const type = `${shape.join(" x ")} of ${dtype}`;
    throw malformed(file, `${name} has ${end - start} bytes, but ${type} needs ${sizeBytes}`);
  }
  return { name, dtype, shape, offset: dataStart + start, sizeBytes };
}

/** The format allows no overlaps, no gaps and nothing after the last tensor. */
function checkOffsets(
  file: string,
  tensors: readonly SafetensorsTensor[],
  dataStart: number,
  fileBytes: number,
): void {
  let end = dataStart;
  let before = "the header";
  // Of several tensors with the same offset, all but the last must be empty.
  const bySize = tensors.toSorted((a, b) => a.sizeBytes - b.sizeBytes);
  const inOrder = bySize.toSorted((a, b) => a.offset - b.offset);
  for (const { name, offset, sizeBytes } of inOrder) {
    if (offset < end) throw malformed(file, `${before} and ${name} overlap`);
    if (offset > end) throw malformed(file, `there is a gap between ${before} and ${name}`);
    end = offset + sizeBytes;
    before = name;
  }
  if (end > fileBytes)
    throw new MlxError(
      "mlx_truncated",
      `${file} ends before its tensor ${before}: ${end - fileBytes} bytes are missing.`,
    );
  if (end < fileBytes) throw malformed(file, `${fileBytes - end} bytes follow the last tensor`);
}

function malformed(file: string, what: string): MlxError {
  return new MlxError("mlx_malformed", `${file} is damaged: ${what}.`);
}
