// The frames of a tunnel: each has a kind and a length, so that pings can pass between data. Independent of sockets.

/** The number of a kind on the wire is its index here. */
const frameKinds = ["none", "hello", "data", "ping", "credit", "goodbye"] as const;
export type FrameKind = Exclude<(typeof frameKinds)[number], "none">;

const headerBytes = 5;
/** The size limit of a control frame, which is buffered until it is complete. */
export const controlBytesMax = 64 * 1024;
/** The size limit of a data frame. Its payload is passed on as it arrives. */
export const dataBytesMax = 1024 * 1024;

export function frameHeader(kind: FrameKind, length: number): Buffer {
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt8(frameKinds.indexOf(kind), 0);
  header.writeUInt32BE(length, 1);
  return header;
}

export function frame(kind: FrameKind, payload: Buffer): Buffer {
  return Buffer.concat([frameHeader(kind, payload.length), payload]);
}

/** Splits a stream of bytes into frames. Reports data piece by piece, and every other frame when it is complete. */
export class FrameReader {
  readonly #onFrame: (kind: FrameKind, payload: Buffer) => void;
  readonly #header = Buffer.alloc(headerBytes);
  #headerLength = 0;
  #kind: FrameKind | undefined;
  #left = 0;
  #pieces: Buffer[] = [];

  constructor(onFrame: (kind: FrameKind, payload: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  /** Reads the next bytes. Throws a RangeError for an invalid frame; the reader cannot be used after that. */
  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0)
      rest = this.#kind === undefined ? this.#readHeader(rest) : this.#readPayload(rest);
  }

  #readHeader(bytes: Buffer): Buffer {
    const taken = bytes.copy(this.#header, this.#headerLength);
    this.#headerLength += taken;
    if (this.#headerLength < headerBytes) return bytes.subarray(taken);
    const kind = frameKinds[this.#header.readUInt8(0)];
    const length = this.#header.readUInt32BE(1);
    if (kind === undefined || kind === "none" || length > (kind === "data" ? dataBytesMax : controlBytesMax))
      throw new RangeError("The other side sent an invalid frame.");
    this.#headerLength = 0;
    this.#kind = kind;
    this.#left = length;
    if (length === 0) this.#finish(Buffer.alloc(0));
    return bytes.subarray(taken);
  }

  #readPayload(bytes: Buffer): Buffer {
    const piece = bytes.subarray(0, this.#left);
    this.#left -= piece.length;
    if (this.#kind === "data") {
      this.#onFrame("data", piece);
      if (this.#left === 0) this.#kind = undefined;
    } else {
      this.#pieces.push(piece);
      if (this.#left === 0) this.#finish(Buffer.concat(this.#pieces));
    }
    return bytes.subarray(piece.length);
  }

  #finish(payload: Buffer): void {
    const kind = this.#kind;
    this.#kind = undefined;
    this.#pieces = [];
    if (kind !== undefined && kind !== "data") this.#onFrame(kind, payload);
  }
}
