// ZMTP 3.1, the protocol of ZeroMQ over TCP (rfc.zeromq.org/spec/37), as far as a listening socket needs it: the greeting, the
// NULL mechanism, frames, and PING.
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { TcpEndpoint } from "../settings/rules.ts";

/** Maximum number of peers: routers and their replicas, not the world. */
const peersMax = 64;
/** Time for the handshake. */
const handshakeTimeoutMs = 10_000;
/** Maximum size of a frame: peers send only topics, numbers and pings. */
const frameBytesMax = 64 * 1024;
/** Maximum number of frames per message: requests have two. */
const framesMax = 8;

const hasMore = 1;
const isLong = 2;
const isCommand = 4;

const greetingBytes = 64;
const mechanism = "NULL";

type SocketType = "PUB" | "ROUTER";
const allowedPeers: Record<SocketType, readonly string[]> = {
  PUB: ["SUB", "XSUB"],
  ROUTER: ["REQ", "DEALER", "ROUTER"],
};

/** One message as it goes over the wire: its frames, one after the other. */
export function encodeMessage(frames: readonly Uint8Array[]): Buffer {
  return Buffer.concat(frames.flatMap((frame, i) => encodeFrame(frame, i < frames.length - 1 ? hasMore : 0)));
}

function encodeFrame(body: Uint8Array, flags: number): Uint8Array[] {
  if (body.length < 256) return [Uint8Array.of(flags, body.length), body];
  const head = Buffer.alloc(9);
  head[0] = flags | isLong;
  head.writeBigUInt64BE(BigInt(body.length), 1);
  return [head, body];
}

function encodeCommand(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Uint8Array.of(name.length), Buffer.from(name, "latin1"), data]);
  return Buffer.concat(encodeFrame(body, isCommand));
}

function greeting(): Buffer {
  const bytes = Buffer.alloc(greetingBytes);
  bytes[0] = 0xff;
  bytes[9] = 0x7f;
  bytes[10] = 3;
  bytes[11] = 1;
  bytes.write(mechanism, 12, "latin1");
  return bytes;
}

function ready(type: SocketType): Buffer {
  const name = "Socket-Type";
  const value = Buffer.from(type, "latin1");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  const property = [Uint8Array.of(name.length), Buffer.from(name, "latin1"), length, value];
  return encodeCommand("READY", Buffer.concat(property));
}

/** A peer has violated the protocol. The connection is closed. */
class ProtocolError extends Error {}

/** The value of a property in the data of a READY command. */
function readProperty(data: Buffer, wanted: string): string | undefined {
  for (let at = 0; at < data.length;) {
    const nameEnd = at + 1 + (data[at] ?? 0);
    if (nameEnd + 4 > data.length) throw new ProtocolError("a property is cut off");
    const name = data.toString("latin1", at + 1, nameEnd);
    const valueEnd = nameEnd + 4 + data.readUInt32BE(nameEnd);
    if (valueEnd > data.length) throw new ProtocolError("a property is cut off");
    if (name.toLowerCase() === wanted.toLowerCase()) return data.toString("latin1", nameEnd + 4, valueEnd);
    at = valueEnd;
  }
  return undefined;
}

/** A connected peer after the handshake. */
export interface Peer {
  /** Sends what encodeMessage() has made. */
  send(message: Uint8Array): void;
  /** Number of bytes not sent yet. */
  readonly unsent: number;
  close(): void;
}

interface PeerHandlers<State> {
  /** Called after the handshake. The result is passed to the other handlers. */
  opened(peer: Peer): State;
  message(frames: readonly Buffer[], state: State): void;
  /** Called for SUBSCRIBE and CANCEL; other commands are handled here. */
  command(name: string, data: Buffer, state: State): void;
  closed(state: State): void;
}

/** A socket that peers connect to. Rejects with what listening fails with. */
export async function bindSocket<State>(
  type: SocketType,
  endpoint: TcpEndpoint,
  handlers: PeerHandlers<State>,
): Promise<BoundSocket> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    new Connection(socket, type, handlers).open();
  });
  server.maxConnections = peersMax;
  await listening(server, endpoint);
  server.unref(); // it does not keep the process alive
  // oxlint-disable-next-line no-unsafe-type-assertion -- it listens on TCP
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export interface BoundSocket extends AsyncDisposable {
  /** The actual port, even if a free one was requested. */
  readonly port: number;
}

async function listening(server: Server, { host, port }: TcpEndpoint): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** One connection: bytes come in, frames and commands go to the handlers. */
class Connection<State> implements Peer {
  readonly #socket: Socket;
  readonly #type: SocketType;
  readonly #handlers: PeerHandlers<State>;
  #received: Buffer = Buffer.alloc(0);
  #stage: "greeting" | "handshake" | "traffic" = "greeting";
  #frames: Buffer[] = [];
  #state: { readonly value: State } | undefined;

  constructor(socket: Socket, type: SocketType, handlers: PeerHandlers<State>) {
    this.#socket = socket;
    this.#type = type;
    this.#handlers = handlers;
  }

  open(): void {
    const socket = this.#socket;
    socket.unref();
    socket.setTimeout(handshakeTimeoutMs, () => socket.destroy());
    socket.on("error", () => {}); // it closes, which is all that matters
    socket.on("close", () => this.#state !== undefined && this.#handlers.closed(this.#state.value));
    socket.on("data", (bytes) => this.#receive(bytes));
    socket.write(greeting());
  }

  send(message: Uint8Array): void {
    this.#socket.write(message);
  }

  get unsent(): number {
    return this.#socket.writableLength;
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    try {
      while (!this.#socket.destroyed && this.#takeNext());
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const reason = Buffer.from(error.message, "latin1");
      if (this.#stage === "handshake")
        this.#socket.write(encodeCommand("ERROR", Buffer.concat([Uint8Array.of(reason.length), reason])));
      this.#socket.destroySoon();
      this.#socket.removeAllListeners("data");
    }
  }

  /** Takes one frame; false if it is not complete yet. */
  #takeNext(): boolean {
    if (this.#stage === "greeting") {
      const bytes = this.#take(greetingBytes);
      if (bytes !== undefined) this.#greeted(bytes);
      return bytes !== undefined;
    }
    const [flags, short] = this.#received;
    if (flags === undefined || short === undefined) return false;
    const headBytes = (flags & isLong) === 0 ? 2 : 9;
    if (this.#received.length < headBytes) return false;
    const bodyBytes = headBytes === 2 ? BigInt(short) : this.#received.readBigUInt64BE(1);
    if (bodyBytes > frameBytesMax) throw new ProtocolError(`a frame is larger than ${frameBytesMax} bytes`);
    const frame = this.#take(headBytes + Number(bodyBytes));
    if (frame === undefined) return false;
    const body = frame.subarray(headBytes);
    if ((flags & isCommand) === 0) this.#frame(body, (flags & hasMore) !== 0);
    else this.#command(body);
    return true;
  }

  #take(bytes: number): Buffer | undefined {
    if (this.#received.length < bytes) return undefined;
    const taken = this.#received.subarray(0, bytes);
    this.#received = this.#received.subarray(bytes);
    return taken;
  }

  #greeted(bytes: Buffer): void {
    const [signature, major] = [bytes[0] === 0xff && bytes[9] === 0x7f, bytes[10] ?? 0];
    const asked = bytes.toString("latin1", 12, 32).replace(/\0+$/, "");
    this.#stage = "handshake";
    if (!signature || major < 3) throw new ProtocolError("only ZMTP 3 is supported");
    if (asked !== mechanism) throw new ProtocolError(`the mechanism here is ${mechanism}`);
    this.#socket.write(ready(this.#type));
  }

  #command(body: Buffer): void {
    const nameEnd = 1 + (body[0] ?? 0);
    const name = body.toString("latin1", 1, nameEnd);
    const data = body.subarray(nameEnd);
    if (this.#stage === "handshake") {
      if (name !== "READY") throw new ProtocolError("READY comes first");
      this.#shakeHands(data);
    } else if (name === "PING") {
      // The first two bytes are a time-to-live; the rest is returned.
      this.#socket.write(encodeCommand("PONG", data.subarray(2, 18)));
    } else if (this.#state !== undefined) this.#handlers.command(name, data, this.#state.value);
  }

  #shakeHands(data: Buffer): void {
    const peerType = readProperty(data, "Socket-Type") ?? "";
    if (!allowedPeers[this.#type].includes(peerType))
      throw new ProtocolError(`a ${this.#type} socket has no use for this socket`);
    this.#stage = "traffic";
    this.#socket.setTimeout(0);
    this.#state = { value: this.#handlers.opened(this) };
  }

  #frame(body: Buffer, isFollowed: boolean): void {
    if (this.#state === undefined) throw new ProtocolError("READY comes first");
    if (this.#frames.push(body) > framesMax) throw new ProtocolError("a message has too many frames");
    if (isFollowed) return;
    const frames = this.#frames;
    this.#frames = [];
    this.#handlers.message(frames, this.#state.value);
  }
}
