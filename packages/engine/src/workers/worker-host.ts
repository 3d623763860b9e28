// A worker: offers this machine's devices to one server at a time, through a tunnel that only who has the key can open.
//
import { once } from "node:events";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { EngineError } from "../errors.ts";
import { threadsDefault } from "../threads.ts";
import { buildInfo, type BuildInfo, type DeviceInfo } from "../native.ts";
import { mismatch, parseHello, ServerHello, type OfferedDevice, type WorkerHello } from "./hello.ts";
import { offeredDevices } from "./offered-devices.ts";
import { hasProvedKey, workerTls } from "./tunnel-tls.ts";
import { patienceDefault, Tunnel, type Patience } from "./tunnel.ts";
import type { WorkerKey } from "./worker-key.ts";
import { WorkerProcess } from "./worker-process.ts";

/** A handshake takes two ways over the network. */
const handshakeMsMax = 5_000;
/** Then the server says who it is. */
const helloMsMax = 5_000;
/** Open at the same time, peers in their handshake among them; one server needs one. */
const connectionsMax = 32;
/** A process that ends before a server has come is not started again before this; then twice that, up to the most. */
const restartMsMin = 500;
const restartMsMax = 30_000;

export type WorkerEvent =
  /** Somebody without the key, or of another version, or one too many. */
  | { kind: "refused"; peer: string; reason: string }
  | { kind: "connected"; peer: string; host: string }
  | { kind: "disconnected"; peer: string; reason: string }
  /** Nobody is served until another process has started. */
  | { kind: "restarting"; reason: string; inMs: number };

export interface WorkerHostOptions {
  key: WorkerKey;
  /** Default: all addresses of this machine. */
  host?: string | undefined;
  /** 0 takes a free one. */
  port: number;
  /** Threads that compute on the processor. Default: one for each core. */
  threads?: number | undefined;
  /** Names of this machine's devices. Default: its GPUs, or its processor where it has none. */
  devices?: readonly string[] | undefined;
  /** What servers may take of each device, in bytes. Default: most of what is free. */
  bytesMax?: number | undefined;
  onEvent: (event: WorkerEvent) => void;
  patience?: Patience;
}

export class WorkerHost implements AsyncDisposable {
  readonly #options: WorkerHostOptions;
  readonly #server: Server;
  readonly #sockets = new Set<TLSSocket>();
  readonly #build: BuildInfo;
  #process: WorkerProcess;
  #offers: readonly OfferedDevice[];
  #ready: Promise<void> = Promise.resolve();
  #restartMs = restartMsMin;
  #restart: NodeJS.Timeout | undefined;
  /** The tunnel of the server that is served. */
  #session: Tunnel | undefined;
  #isClosed = false;

  private constructor(
    options: WorkerHostOptions,
    build: BuildInfo,
    first: WorkerProcess,
    devices: DeviceInfo[],
  ) {
    this.#options = options;
    this.#build = build;
    this.#process = first;
    this.#offers = offeredDevices(devices, options);
    this.#server = createServer({ ...workerTls(options.key), handshakeTimeout: handshakeMsMax });
    this.#server.maxConnections = connectionsMax;
    this.#server.on("connection", (socket) => socket.setNoDelay(true));
    this.#server.on("tlsClientError", (error, socket) => {
      socket.destroy();
      this.#refused(socket, `no handshake with the key of this worker (${codeOf(error)})`);
    });
    this.#server.on("secureConnection", (socket) => this.#accept(socket));
    void first.ended.then((reason) => this.#processEnded(first, reason));
  }

  /**
   * Starts to listen. Throws `engine_failed` (the native engine cannot start), `invalid_request` (an unknown device), and what
   * listening throws.
   */
  static async start(options: WorkerHostOptions): Promise<WorkerHost> {
    if (process.platform === "win32")
      throw new EngineError("invalid_request", "Workers run on Linux and macOS, not on Windows.");
    const first = new WorkerProcess();
    try {
      const host = new WorkerHost(options, await buildInfo(), first, await first.devices());
      host.#server.listen({ host: options.host, port: options.port });
      await once(host.#server, "listening");
      return host;
    } catch (error) {
      first[Symbol.dispose]();
      throw error;
    }
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string")
      throw new Error("A worker that was started listens on TCP.");
    return address.port;
  }

  /** What it offers. */
  get offers(): readonly OfferedDevice[] {
    return this.#offers;
  }

  /** Hangs up on everybody and frees the devices. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    this.#session?.close("the worker was stopped");
    this.#process[Symbol.dispose]();
    for (const socket of this.#sockets) socket.destroySoon();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await this.#process.ended;
  }

  #accept(socket: TLSSocket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {}); // the tunnel hears of it, or nobody needs to
    if (!hasProvedKey(socket)) {
      socket.destroy();
      return this.#refused(socket, "no proof of the key");
    }
    const peer = peerOf(socket);
    const tooLate = setTimeout(() => tunnel.close("no hello"), helloMsMax);
    const tunnel = new Tunnel(
      socket,
      (payload) => {
        clearTimeout(tooLate);
        const hello = parseHello(ServerHello, payload);
        // The process of the server before may not be replaced yet.
        void this.#ready.then(() => this.#receive(tunnel, peer, hello));
      },
      this.#options.patience ?? patienceDefault,
    );
    void tunnel.closed.then(() => clearTimeout(tooLate));
  }

  #receive(tunnel: Tunnel, peer: string, hello: ServerHello): void {
    if (tunnel.isClosed || this.#isClosed) return;
    const reason = this.#whyNot(tunnel, hello);
    if (reason !== undefined) {
      tunnel.hello({ kind: "refusal", reason } satisfies WorkerHello);
      tunnel.close(reason);
      return this.#options.onEvent({ kind: "refused", peer, reason });
    }
    this.#session = tunnel;
    const { version } = this.#build;
    tunnel.hello({ kind: "offer", version, devices: [...this.#offers] } satisfies WorkerHello);
    const devices = this.#offers.map(({ name, bytes }) => ({ name, bytesMax: bytes }));
    tunnel.carry(this.#process.serve({ devices, threads: this.#options.threads ?? threadsDefault() }));
    this.#options.onEvent({ kind: "connected", peer, host: hello.host });
    const computing = this.#process;
    void computing.ended.then((fault) => tunnel.close(fault === "" ? "the server has hung up" : fault));
    void tunnel.closed.then((why) => {
      computing[Symbol.dispose](); // what the server has left of it is freed with the process
      this.#session = undefined;
      this.#options.onEvent({ kind: "disconnected", peer, reason: why });
    });
  }

  #whyNot(tunnel: Tunnel, hello: ServerHello): string | undefined {
    if (this.#session === tunnel) return "one hello is enough";
    const differs = mismatch(hello, this.#build);
    if (differs !== undefined) return differs;
    if (this.#session !== undefined) return "it computes for another server";
    return this.#process.hasServed ? "it is starting again" : undefined;
  }

  /** A process serves one server, and then another one takes its place. */
  #processEnded(ended: WorkerProcess, reason: string): void {
    if (this.#isClosed || this.#process !== ended) return;
    const inMs = ended.hasServed ? 0 : this.#restartMs;
    this.#restartMs = ended.hasServed ? restartMsMin : Math.min(2 * this.#restartMs, restartMsMax);
    if (inMs > 0) this.#options.onEvent({ kind: "restarting", reason, inMs });
    this.#ready = new Promise((resolve) => {
      this.#restart = setTimeout(() => void this.#startAgain().then(resolve), inMs);
    });
  }

  async #startAgain(): Promise<void> {
    const next = new WorkerProcess();
    this.#process = next;
    void next.ended.then((reason) => this.#processEnded(next, reason));
    try {
      await next.devices();
    } catch {
      next[Symbol.dispose](); // its end starts another one
    }
  }

  #refused(socket: TLSSocket, reason: string): void {
    this.#options.onEvent({ kind: "refused", peer: peerOf(socket), reason });
  }
}

/** Addresses of IPv4 as people write them, also where one socket listens for both versions. */
function peerOf({ remoteAddress = "" }: TLSSocket): string {
  return remoteAddress.replace(/^::ffff:/, "");
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : error.message;
}
