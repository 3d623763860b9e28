// Receives a body within its limits, for every route that has one, and decodes it if it was sent with a content coding. Its bytes are
// copied at once into pieces that can be transferred to a thread, so that no work on the whole body remains at its end.
import type { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import { WireError } from "../wire-error.ts";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import pLimit from "p-limit";

/** The size of a piece: larger than a packet and smaller than a large body. */
const pieceBytes = 1024 * 1024;

export class BodyPieces {
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  /** Number of bytes in the last piece. */
  #filled = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    let rest = chunk;
    while (rest.length > 0) {
      const piece = this.#piece(rest.length);
      const part = rest.subarray(0, piece.length - this.#filled);
      piece.set(part, this.#filled);
      this.#filled += part.length;
      rest = rest.subarray(part.length);
    }
  }

  /** Returns all bytes; nothing may be added afterwards. */
  take(): Uint8Array<ArrayBuffer>[] {
    const pieces = this.#pieces.splice(0);
    const last = pieces.pop();
    if (last !== undefined) pieces.push(last.subarray(0, this.#filled));
    return pieces;
  }

  /** A piece with space; small bodies get one of exactly their size. */
  #piece(wanted: number): Uint8Array<ArrayBuffer> {
    const last = this.#pieces.at(-1);
    if (last !== undefined && this.#filled < last.length) return last;
    const piece = new Uint8Array(last === undefined ? Math.min(wanted, pieceBytes) : pieceBytes);
    this.#pieces.push(piece);
    this.#filled = 0;
    return piece;
  }
}

/**
 * Reads to the end. `onBytes` is called with the length so far, and may throw to stop; the rest is then discarded, as it is once
 * the signal is aborted. Rejects with what `onBytes` throws, the signal's reason, or what reading fails with.
 */
export function gather(
  payload: Readable,
  onBytes: (length: number) => void,
  signal: AbortSignal,
): Promise<BodyPieces> {
  return new Promise((resolve, reject) => {
    const pieces = new BodyPieces();
    const stop = (): void => {
      payload.off("data", onData).off("end", onEnd).off("error", onError);
      signal.removeEventListener("abort", onAbort);
    };
    const onError = (error: Error): void => {
      stop();
      reject(error);
    };
    const onAbort = (): void => onError(signal.reason);
    const onData = (chunk: Uint8Array): void => {
      try {
        onBytes(pieces.length + chunk.length);
        pieces.add(chunk);
      } catch (error) {
        onError(error instanceof Error ? error : new Error("A body could not be read.", { cause: error }));
      }
    };
    const onEnd = (): void => {
      stop();
      resolve(pieces);
    };
    payload.on("data", onData).on("end", onEnd).on("error", onError);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}

interface BodyLimit {
  /** Maximum number of bytes, both as they are sent and decoded. */
  bytesMax: number;
  /** The error for more. */
  tooLarge: () => WireError;
}

/** Throws the limit's error, `overloaded`, what `parseCodings` and `decodeBody` throw, and the client's abort. */
export async function receiveBody(
  request: FastifyRequest,
  payload: Readable,
  { bytesMax, tooLarge }: BodyLimit,
): Promise<BodyPieces> {
  const codings = parseCodings(request.headers["content-encoding"]);
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > bytesMax) throw tooLarge();
  const holdAtMost = (length: number, besides: number): void => {
    if (length > bytesMax) throw tooLarge();
    request.holdBody(length + besides);
  };
  const onReceived = (length: number): void => holdAtMost(length, Math.max(0, declared - length));
  const signal = request.clientSignal;
  const received = await gather(payload, onReceived, signal);
  if (received.length === 0) return received;
  return await decodeBody(received, codings, { onBytes: holdAtMost, signal });
}

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
function parseCodings(header = ""): string[] {
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

interface DecodingOptions {
  /** Called with the length so far, and with that of what it is decoded from. May throw to stop. */
  onBytes: (length: number, encodedLength: number) => void;
  signal: AbortSignal;
}

const atWork = pLimit(decodersMax);

/**
 * Undoes codings, the last one first. Throws what `onBytes` throws, the signal's reason, `payload_too_large` for a body that
 * becomes too many times larger, and `invalid_request` for one that is damaged.
 */
async function decodeBody(
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
