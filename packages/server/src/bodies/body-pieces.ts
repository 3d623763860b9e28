// Collects a body as it is received. Its bytes are copied at once into pieces that can be transferred to a thread, so that no
// work on the whole body remains at its end.
import type { Readable } from "node:stream";

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
