// One side of a tunnel between a server and a worker: carries the bytes of a local socket through TLS in both directions, detects that
// the other side is gone, and reports the reason.
import type { Duplex } from "node:stream";
import { z } from "zod";
import { dataBytesMax, frame, frameHeader, FrameReader, type FrameKind } from "./frames.ts";

/** When a silent peer counts as lost: a machine that loses power sends neither data nor an error. */
export interface KeepAlive {
  /** The interval between pings. */
  pingMs: number;
  /** After this time without a single byte, the other side counts as lost. */
  silenceMs: number;
}

export const keepAliveDefault: KeepAlive = { pingMs: 2_000, silenceMs: 15_000 };

/**
 * How many bytes may be in flight to a local socket that does not read them. Each side reports how many it has passed on. The TLS
 * connection itself is always read: otherwise pings would wait behind data for a peer that is computing.
 */
const creditBytes = 8 * 1024 * 1024;
/** A credit frame is sent after this many bytes. */
const creditStep = 1024 * 1024;
/** Longer reasons are cut. */
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
  /** By the clock that nobody sets: with the time of day set back, silence would not be noticed. */
  #heardAt = performance.now();
  #isClosed = false;

  /** `onHello` receives each hello of the other side; if it throws, the tunnel closes. */
  constructor(peer: Duplex, onHello: (payload: Buffer) => void, patience: KeepAlive = keepAliveDefault) {
    this.#peer = peer;
    this.#onHello = onHello;
    this.#closed = new Promise((resolve) => (this.#settle = resolve));
    const reader = new FrameReader((kind, payload) => this.#receive(kind, payload));
    peer.on("data", (chunk: Buffer) => {
      this.#heardAt = performance.now();
      this.#orClose(() => reader.push(chunk));
    });
    peer.on("error", (error) => this.#end(error.message));
    peer.on("close", () => this.#end("the connection was closed"));
    this.#heart = this.#beat(patience);
  }

  /** Resolves with the reason when the tunnel is closed. Never rejects. */
  get closed(): Promise<string> {
    return this.#closed;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  hello(payload: unknown): void {
    this.#peer.write(frame("hello", Buffer.from(JSON.stringify(payload))));
  }

  /** Carries the bytes of this socket from now on. If the socket or the tunnel closes, the other closes too. */
  carry(local: Duplex): void {
    if (this.#isClosed) {
      local.destroy();
      return;
    }
    this.#local = local;
    local.on("data", (chunk: Buffer) => this.#sendData(chunk));
    local.on("error", (error) => this.close(error.message));
    local.on("close", () => this.close("the computing side closed the connection"));
  }

  /** Sends the reason and closes. Further calls have no effect. */
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
      throw new RangeError("The other side sent data before the hellos were exchanged.");
    this.#passedOn += payload.length;
    if (this.#passedOn > 2 * creditBytes)
      throw new RangeError("The other side sent more bytes than its credit allows.");
    this.#local.write(payload, () => this.#giveCredit());
  }

  /** Reports the bytes that have left the local socket's write queue. */
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
    if (payload.length !== 4) throw new RangeError("The other side sent an invalid frame.");
    this.#credit += payload.readUInt32BE(0);
    if (this.#credit > 0) this.#local?.resume();
  }

  #beat({ pingMs, silenceMs }: KeepAlive): NodeJS.Timeout {
    let beatAt = performance.now();
    return setInterval(() => {
      const now = performance.now();
      // This process itself was suspended or blocked, and has not yet read what arrived meanwhile.
      const wasBlocked = now - beatAt > 2 * pingMs;
      beatAt = now;
      if (wasBlocked) this.#heardAt = now;
      else if (now - this.#heardAt > silenceMs) this.#end(`no sign of life for ${silenceMs / 1000} seconds`);
      if (!this.#isClosed) this.#peer.write(frame("ping", Buffer.alloc(0)));
    }, pingMs).unref();
  }

  /** Processes input of the other side; an error closes the tunnel. */
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
    // Leaves a pending goodbye a second to be sent, then drops the connection.
    setTimeout(() => this.#peer.destroy(), 1_000).unref();
    this.#local?.destroy();
    this.#settle(reason);
  }
}
