// One side of a tunnel between a server and a worker: carries what a local socket says through TLS and back, notices when
// the other side is gone, and tells why.
import type { Duplex } from "node:stream";
import { z } from "zod";
import { dataBytesMax, frame, frameHeader, FrameReader, type FrameKind } from "./frames.ts";

/** A machine that has lost its power sends nothing, and no error either. */
export interface Patience {
  /** A sign of life goes out this often. */
  pingMs: number;
  /** Without any byte for this long the other side is taken to be gone. */
  silenceMs: number;
}

export const patienceDefault: Patience = { pingMs: 2_000, silenceMs: 15_000 };

/**
 * Bytes that may be on their way to a socket that does not read. Each side says how many it has passed on: the TLS connection
 * is read all the time, or signs of life would wait behind data that waits for somebody who computes.
 */
const creditBytes = 8 * 1024 * 1024;
/** Said when so many bytes were passed on. */
const creditStep = 1024 * 1024;
/** Longest reason that is passed on. */
const reasonLengthMax = 500;

const Goodbye = z.object({ reason: z.string().max(reasonLengthMax) });

export class Tunnel {
  readonly #peer: Duplex;
  readonly #onHello: (payload: Buffer) => void;
  readonly #heart: NodeJS.Timeout;
  readonly #closed: Promise<string>;
  #settle: (reason: string) => void = () => {};
  #local: Duplex | undefined;
  #credit = creditBytes;
  #passedOn = 0;
  #heardAt = Date.now();
  #isClosed = false;

  /** `onHello` gets each hello of the other side; what it throws closes the tunnel. */
  constructor(peer: Duplex, onHello: (payload: Buffer) => void, patience: Patience = patienceDefault) {
    this.#peer = peer;
    this.#onHello = onHello;
    this.#closed = new Promise((resolve) => (this.#settle = resolve));
    const reader = new FrameReader((kind, payload) => this.#receive(kind, payload));
    peer.on("data", (chunk: Buffer) => {
      this.#heardAt = Date.now();
      this.#orClose(() => reader.push(chunk));
    });
    peer.on("error", (error) => this.#end(error.message));
    peer.on("close", () => this.#end("the connection was closed"));
    this.#heart = this.#beat(patience);
  }

  /** Resolves with why, when it is closed. Never rejects. */
  get closed(): Promise<string> {
    return this.#closed;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  hello(payload: unknown): void {
    this.#peer.write(frame("hello", Buffer.from(JSON.stringify(payload))));
  }

  /** Carries the bytes of this socket from now on. When one of the two closes, the other does. */
  carry(local: Duplex): void {
    if (this.#isClosed) {
      local.destroy();
      return;
    }
    this.#local = local;
    local.on("data", (chunk: Buffer) => this.#sendData(chunk));
    local.on("error", (error) => this.close(error.message));
    local.on("close", () => this.close("the computing side has hung up"));
  }

  /** Says why and closes. Doing it twice is doing it once. */
  close(reason: string): void {
    if (this.#isClosed) return;
    this.#peer.write(
      frame("goodbye", Buffer.from(JSON.stringify({ reason: reason.slice(0, reasonLengthMax) }))),
    );
    this.#peer.end();
    this.#end(reason);
  }

  #sendData(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += dataBytesMax) {
      const piece = chunk.subarray(at, at + dataBytesMax);
      this.#peer.cork();
      this.#peer.write(frameHeader("data", piece.length));
      this.#peer.write(piece);
      this.#peer.uncork();
    }
    this.#credit -= chunk.length;
    if (this.#credit <= 0) this.#local?.pause();
  }

  #receive(kind: FrameKind, payload: Buffer): void {
    if (this.#isClosed) return;
    switch (kind) {
      case "hello":
        return this.#onHello(payload);
      case "data":
        return this.#passOn(payload);
      case "credit":
        return this.#addCredit(payload);
      case "goodbye":
        return this.#end(Goodbye.parse(JSON.parse(payload.toString("utf8"))).reason);
      case "ping":
        return;
    }
  }

  #passOn(payload: Buffer): void {
    if (this.#local === undefined)
      throw new RangeError("The other side sent data before its hello was answered.");
    this.#passedOn += payload.length;
    if (this.#passedOn > 2 * creditBytes) throw new RangeError("The other side sent more than it may.");
    this.#local.write(payload, () => this.#giveCredit());
  }

  /** What is not in the local socket's own queue any more was passed on. */
  #giveCredit(): void {
    const waiting = this.#local?.writableLength ?? 0;
    const done = this.#passedOn - waiting;
    if (this.#isClosed || done < creditStep) return;
    this.#passedOn = waiting;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(done);
    this.#peer.write(frame("credit", count));
  }

  #addCredit(payload: Buffer): void {
    if (payload.length !== 4) throw new RangeError("The other side sent what is no frame of a tunnel.");
    this.#credit += payload.readUInt32BE(0);
    if (this.#credit > 0) this.#local?.resume();
  }

  #beat({ pingMs, silenceMs }: Patience): NodeJS.Timeout {
    let beatAt = Date.now();
    return setInterval(() => {
      const now = Date.now();
      // This process itself has stood still: what has come meanwhile is not read yet.
      const wasStill = now - beatAt > 2 * pingMs;
      beatAt = now;
      if (wasStill) this.#heardAt = now;
      else if (now - this.#heardAt > silenceMs) this.#end(`no sign of life for ${silenceMs / 1000} seconds`);
      if (!this.#isClosed) this.#peer.write(frame("ping", Buffer.alloc(0)));
    }, pingMs).unref();
  }

  /** For what the other side sends: what is wrong with it closes the tunnel. */
  #orClose(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.close(error instanceof Error ? error.message : String(error));
    }
  }

  #end(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#heart);
    // A goodbye that is on its way still goes out; a peer that takes nothing any more is given up.
    setTimeout(() => this.#peer.destroy(), 1_000).unref();
    this.#local?.destroy();
    this.#settle(reason);
  }
}
