// Decodes the content codings of a body (Content-Encoding): gzip, deflate, br and, on Node.js 22.15 or later, zstd. A body is decoded
// after all of it has been received, so that slow clients hold no decoder. zlib decodes in threads, a chunk at a time.
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import pLimit from "p-limit";
import { WireError } from "../wire-error.ts";
import { BodyPieces } from "./body-pieces.ts";

/** Maximum number of codings of one body: clients use one, and a proxy may add another. */
const codingsMax = 4;
/** Bytes that a decoder returns at once: copying them takes some microseconds. */
const chunkBytes = 64 * 1024;
/**
 * How many times larger than received a body may become. Conversations shrink to a tenth and long repetitions in them to a
 * hundredth, zeros to a thousandth and less.
 */
const expansionMax = 100;
/** Up to this length, a body may be any number of times larger: it is cheap. */
const expansionFreeBytes = 4 * 1024 * 1024;
/** Decoders at work, of all requests together: each uses one of libuv's four threads and, for br, a window of 16 MiB. */
const decodersMax = 2;
/** Maximum window of zstd as a power of two: 8 MiB, as RFC 9659 sets it for HTTP. */
const zstdWindowLogMax = 23;
/** `ZSTD_d_windowLogMax`, which Node.js 20 does not have. */
const zstdWindowLogMaxParameter = 100;
/** Maximum length of an unknown coding's name that an error repeats. */
const shownNameMax = 32;

/** Makes a decoder of zlib. */
type Decoder = (firstByte: number) => zlib.Gunzip | zlib.BrotliDecompress;

const chunked = { chunkSize: chunkBytes };

/** zlib's header begins with a byte whose lower half is 8. Some clients leave the header out. */
const inflate: Decoder = (firstByte) =>
  firstByte % 16 === 8 ? zlib.createInflate(chunked) : zlib.createInflateRaw(chunked);

/** In the order in which clients are told them. */
const decoders = new Map<string, Decoder>([
  ...zstdDecoder(),
  ["br", () => zlib.createBrotliDecompress(chunked)],
  ["gzip", () => zlib.createGunzip(chunked)],
  ["deflate", inflate],
]);

function zstdDecoder(): [name: string, decoder: Decoder][] {
  const create: unknown = Reflect.get(zlib, "createZstdDecompress");
  if (typeof create !== "function") return [];
  const params = { [zstdWindowLogMaxParameter]: zstdWindowLogMax };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types are those of Node.js 20
  return [["zstd", () => create({ ...chunked, params }) as zlib.Gunzip]];
}

/** A value for the header Accept-Encoding of a response. */
export const acceptedCodings = [...decoders.keys()].join(", ");

/** The names in a Content-Encoding, in the order in which the codings were applied. Throws `unsupported_media_type`. */
export function codingsOf(header = ""): string[] {
  const names = header
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity")
    .map((name) => (name === "x-gzip" ? "gzip" : name));
  const unknown = names.find((name) => !decoders.has(name));
  if (unknown !== undefined)
    throw unsupported(`The content coding ${JSON.stringify(unknown.slice(0, shownNameMax))} is`);
  if (names.length > codingsMax) throw unsupported(`A body with more than ${codingsMax} content codings is`);
  return names;
}

function unsupported(what: string): WireError {
  const older = decoders.has("zstd") ? "" : " zstd needs Node.js 22.15 or later.";
  const message = `${what} not supported. Send the body as it is, or with one of: ${acceptedCodings}.${older}`;
  return new WireError("unsupported_media_type", message, { acceptEncoding: acceptedCodings });
}

interface StageOptions {
  onBytes: (length: number) => void;
  signal: AbortSignal;
}

export interface DecodingOptions {
  /** Called with the length so far, and with that of what it is decoded from. May throw to stop. */
  onBytes: (length: number, encodedLength: number) => void;
  signal: AbortSignal;
}

const atWork = pLimit(decodersMax);

/**
 * Undoes codings, the last one first. Throws what `onBytes` throws, the signal's reason, `payload_too_large` for a body that
 * becomes too many times larger, and `invalid_request` for one that is damaged.
 */
export async function decodeBody(
  received: BodyPieces,
  codings: readonly string[],
  { onBytes, signal }: DecodingOptions,
): Promise<BodyPieces> {
  const receivedLength = received.length;
  let body = received;
  for (const coding of codings.toReversed()) {
    const encoded = body;
    const { length } = encoded;
    const counted = (decodedLength: number): void => {
      if (decodedLength > Math.max(expansionFreeBytes, expansionMax * receivedLength)) throw tooExpanded();
      onBytes(decodedLength, length);
    };
    body = await atWork(async () => {
      signal.throwIfAborted();
      return await decode(encoded, coding, { onBytes: counted, signal });
    });
  }
  return body;
}

async function decode(encoded: BodyPieces, coding: string, options: StageOptions): Promise<BodyPieces> {
  const { onBytes, signal } = options;
  const { length } = encoded;
  const pieces = encoded.take();
  const create = decoders.get(coding);
  if (create === undefined) throw new Error(`There is no decoder for ${coding}.`);
  const decoder = create(pieces[0]?.[0] ?? 0);
  const decoded = new BodyPieces();
  const collect = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of chunks) {
      onBytes(decoded.length + chunk.length);
      decoded.add(chunk);
    }
  };
  try {
    await pipeline(pieces, decoder, collect, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof WireError ? error : damaged(coding, error);
  }
  if (decoder.bytesWritten < length) throw damaged(coding);
  return decoded;
}

function tooExpanded(): WireError {
  const message = `The body becomes more than ${expansionMax} times larger when it is decoded; send it without compression.`;
  return new WireError("payload_too_large", message);
}

function damaged(coding: string, cause?: unknown): WireError {
  const message = `The body is not valid ${coding}, as its Content-Encoding says: it is damaged or incomplete, or bytes follow its end.`;
  return new WireError("invalid_request", message, { cause });
}
