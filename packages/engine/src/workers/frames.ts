// How bytes travel through a tunnel: in frames, each with its kind and its length, so that signs of life pass between the
// bytes of computing. Knows nothing of sockets.

/** Their numbers on the wire are their places here. */
const frameKinds = ["none", "hello", "data", "ping", "credit", "goodbye"] as const;
export type FrameKind = Exclude<(typeof frameKinds)[number], "none">;

const headerBytes = 5;
/** Of a frame that is kept until it is whole; data is passed on as it comes. */
export const controlBytesMax = 64 * 1024;
/** Of a frame of data: what a socket gives at a time is less. */
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

/** Takes bytes as they come. Data is told piece by piece, every other frame when it is whole. */
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

  /** Throws a RangeError for what is no frame; nothing can be read after that. */
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
      throw new RangeError("The other side sent what is no frame of a tunnel.");
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
