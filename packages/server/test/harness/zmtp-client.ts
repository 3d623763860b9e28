// A client of ZeroMQ's protocol for tests, written from its specification (rfc.zeromq.org/spec/23 and /37) and independent of
// kv-events/zmtp.ts: SUB with subscriptions as messages (3.0) or commands (3.1), and DEALER.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Longest wait in a test. */
const waitMaxMs = 20_000;

interface ZmtpClientOptions {
  type: "SUB" | "DEALER" | "REQ" | "PUSH";
  /** Minor version that it announces. Default: 1, for 3.1. */
  minor?: 0 | 1;
  mechanism?: string;
}

export class ZmtpClient implements Disposable {
  readonly socket: Socket;
  readonly #minor: number;
  /** Received messages and commands that were not read yet. */
  readonly #messages: Buffer[][] = [];
  readonly #commands: { name: string; data: Buffer }[] = [];
  #bytes = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #isGreeted = false;
  #wake = (): void => {};

  private constructor(socket: Socket, minor: number) {
    this.socket = socket;
    this.#minor = minor;
    socket.on("data", (bytes) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes]);
      while (this.#parse());
      this.#wake();
    });
    socket.on("close", () => this.#wake());
    socket.on("error", () => {});
  }

  /** Connects and shakes hands. Rejects if the other side disconnects. */
  static async connect(
    port: number,
    { type, minor = 1, mechanism = "NULL" }: ZmtpClientOptions,
  ): Promise<ZmtpClient> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const client = new ZmtpClient(socket, minor);
    const greeting = Buffer.alloc(64);
    greeting.set([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, minor]);
    greeting.write(mechanism, 12, "latin1");
    // In two parts, like the reference implementation.
    socket.write(greeting.subarray(0, 11));
    socket.write(greeting.subarray(11));
    const value = Buffer.from(type);
    const property = Buffer.concat([
      Buffer.from([11]),
      Buffer.from("Socket-Type"),
      Buffer.from([0, 0, 0, value.length]),
      value,
    ]);
    client.sendCommand("READY", Buffer.concat([property, Buffer.from("\x08Identity\0\0\0\0", "latin1")]));
    const ready = await client.command();
    if (ready.name !== "READY") throw new Error(`${ready.name}: ${ready.data.toString("latin1", 1)}`);
    return client;
  }

  subscribe(topic: string): void {
    if (this.#minor === 0) this.send([Buffer.concat([Buffer.from([1]), Buffer.from(topic)])]);
    else this.sendCommand("SUBSCRIBE", Buffer.from(topic));
  }

  unsubscribe(topic: string): void {
    if (this.#minor === 0) this.send([Buffer.concat([Buffer.from([0]), Buffer.from(topic)])]);
    else this.sendCommand("CANCEL", Buffer.from(topic));
  }

  send(frames: readonly Buffer[]): void {
    for (const [i, frame] of frames.entries()) {
      const isLast = i === frames.length - 1;
      this.socket.write(Buffer.concat([Buffer.from([isLast ? 0 : 1, frame.length]), frame]));
    }
  }

  sendCommand(name: string, data: Buffer): void {
    const body = Buffer.concat([Buffer.from([name.length]), Buffer.from(name), data]);
    this.socket.write(Buffer.concat([Buffer.from([4, body.length]), body]));
  }

  /** The next message's frames. Rejects if none arrives in time, or the connection ends. */
  async message(withinMs = waitMaxMs): Promise<Buffer[]> {
    return await this.#next(this.#messages, withinMs);
  }

  /** Received messages that were not read yet. */
  taken(): Buffer[][] {
    return this.#messages.splice(0);
  }

  async command(): Promise<{ name: string; data: Buffer }> {
    return await this.#next(this.#commands);
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  async #next<T>(queue: T[], withinMs = waitMaxMs): Promise<T> {
    const deadline = withinMs === Infinity ? new AbortController().signal : AbortSignal.timeout(withinMs);
    for (;;) {
      const next = queue.shift();
      if (next !== undefined) return next;
      if (this.socket.destroyed) throw new Error("The connection was closed.");
      await new Promise<void>((resolve, reject) => {
        this.#wake = resolve;
        deadline.addEventListener("abort", () => reject(new Error("Nothing was received.")), { once: true });
      });
    }
  }

  #parse(): boolean {
    if (!this.#isGreeted) {
      if (this.#bytes.length < 64) return false;
      if (this.#bytes[0] !== 0xff || this.#bytes[9] !== 0x7f || this.#bytes[10] !== 3)
        throw new Error("Not a greeting of ZMTP 3.");
      this.#bytes = this.#bytes.subarray(64);
      this.#isGreeted = true;
    }
    const flags = this.#bytes[0] ?? 0;
    const head = (flags & 2) === 0 ? 2 : 9;
    if (this.#bytes.length < head) return false;
    const length = head === 2 ? (this.#bytes[1] ?? 0) : Number(this.#bytes.readBigUInt64BE(1));
    if (this.#bytes.length < head + length) return false;
    const body = Buffer.from(this.#bytes.subarray(head, head + length));
    this.#bytes = this.#bytes.subarray(head + length);
    if ((flags & 4) !== 0) {
      const end = 1 + (body[0] ?? 0);
      this.#commands.push({ name: body.toString("latin1", 1, end), data: body.subarray(end) });
      return true;
    }
    this.#parts.push(body);
    if ((flags & 1) === 0) this.#messages.push(this.#parts.splice(0));
    return true;
  }
}
