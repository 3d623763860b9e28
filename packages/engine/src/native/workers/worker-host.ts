// A worker: offers this machine's devices to one server at a time, through a tunnel that requires the shared key.
import { once } from "node:events";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { errorCode, EngineError } from "../../base/errors.ts";
import { defaultThreads } from "../default-threads.ts";
import { buildInfo, type BuildInfo, type DeviceInfo } from "../addon.ts";
import { mismatch, parseHello, ServerHello, type OfferedDevice, type WorkerHello } from "./hello.ts";
import { offeredDevices } from "./offered-devices.ts";
import { PendingConnections } from "./pending-connections.ts";
import { hasProvedKey, workerTls } from "./tunnel-tls.ts";
import { keepAliveDefault, Tunnel, type KeepAlive } from "./tunnel.ts";
import type { WorkerKey } from "./worker-key.ts";
import { WorkerProcess } from "./worker-process.ts";

/** Time limit of the TLS handshake, which takes two round trips. */
const handshakeMsMax = 5_000;
/** Time limit of the server's hello, after the handshake. */
const helloMsMax = 5_000;
/** The delay before restarting a process that ended without serving anyone. It doubles each time, up to the maximum. */
const restartMsMin = 500;
const restartMsMax = 30_000;

export type WorkerEvent =
  /** A peer without the key or of another version, or a server while another one is being served. */
  | { kind: "refused"; peer: string; reason: string }
  | { kind: "connected"; peer: string; host: string }
  | { kind: "disconnected"; peer: string; reason: string }
  /** The computing process ended; no server is served until the next one has started. */
  | { kind: "restarting"; reason: string; inMs: number };

export interface WorkerHostOptions {
  key: WorkerKey;
  /** Default: all addresses of this machine. */
  host?: string | undefined;
  /** 0 chooses a free port. */
  port: number;
  /** Threads for computation on the CPU. Default: one per performance core. */
  threads?: number | undefined;
  /** Names of the devices to offer. Default: all GPUs, or the CPU if there are none. */
  devices?: readonly string[] | undefined;
  /** The maximum memory that a server may use on each device, in bytes. Default: 90 % of the free memory. */
  bytesMax?: number | undefined;
  onEvent: (event: WorkerEvent) => void;
  patience?: KeepAlive;
}

export class WorkerHost implements AsyncDisposable {
  readonly #options: WorkerHostOptions;
  readonly #threads: number;
  readonly #server: Server;
  readonly #sockets = new Set<TLSSocket>();
  readonly #pending = new PendingConnections();
  readonly #build: BuildInfo;
  #process: WorkerProcess;
  #offers: readonly OfferedDevice[];
  #ready: Promise<void> = Promise.resolve();
  #restartMs = restartMsMin;
  #restart: NodeJS.Timeout | undefined;
  /** The tunnel of the current server. */
  #session: Tunnel | undefined;
  #isClosed = false;

  private constructor(
    { threads, ...options }: WorkerHostOptions & { threads: number },
    build: BuildInfo,
    first: WorkerProcess,
    devices: DeviceInfo[],
  ) {
    this.#options = options;
    this.#threads = threads;
    this.#build = build;
    this.#process = first;
    this.#offers = offeredDevices(devices, options);
    this.#server = createServer({ ...workerTls(options.key), handshakeTimeout: handshakeMsMax });
    this.#server.on("connection", (socket) => {
      socket.setNoDelay(true);
      this.#pending.add(socket);
    });
    this.#server.on("tlsClientError", (error, socket) => {
      socket.destroy();
      this.#refused(
        socket,
        `the handshake with this worker's key failed (${errorCode(error) ?? error.message})`,
      );
    });
    this.#server.on("secureConnection", (socket) => this.#accept(socket));
    void first.ended.then((reason) => this.#processEnded(first, reason));
  }

  /**
   * Starts to listen. Throws `engine_failed` (the native engine cannot start), `invalid_request` (an unknown device), or the system's
   * error if it cannot listen on the port.
   */
  static async start(options: WorkerHostOptions): Promise<WorkerHost> {
    if (process.platform === "win32")
      throw new EngineError("invalid_request", "Workers run on Linux and macOS, not on Windows.");
    const first = new WorkerProcess();
    try {
      const threads = options.threads ?? (await defaultThreads()).threads;
      const host = new WorkerHost({ ...options, threads }, await buildInfo(), first, await first.devices());
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
      throw new Error("A started worker must be listening on TCP.");
    return address.port;
  }

  /** The offered devices. */
  get offers(): readonly OfferedDevice[] {
    return this.#offers;
  }

  /** Closes all connections and frees the devices. */
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
    socket.on("error", () => {}); // a tunnel listens for errors itself; without one, nothing depends on the socket
    if (!hasProvedKey(socket)) {
      socket.destroy();
      return this.#refused(socket, "it did not prove that it has the key");
    }
    this.#pending.settle(socket);
    const peer = peerAddress(socket);
    const tooLate = setTimeout(() => tunnel.close("no hello in time"), helloMsMax);
    const tunnel = new Tunnel(
      socket,
      (payload) => {
        clearTimeout(tooLate);
        const hello = parseHello(ServerHello, payload);
        // The previous server's process may still be being replaced.
        void this.#ready.then(() => this.#receive(tunnel, peer, hello));
      },
      this.#options.patience ?? keepAliveDefault,
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
    tunnel.carry(this.#process.serve({ devices, threads: this.#threads }));
    this.#options.onEvent({ kind: "connected", peer, host: hello.host });
    const computing = this.#process;
    void computing.ended.then((fault) => tunnel.close(fault === "" ? "the server disconnected" : fault));
    void tunnel.closed.then((why) => {
      computing[Symbol.dispose](); // frees everything that the server left behind
      this.#session = undefined;
      this.#options.onEvent({ kind: "disconnected", peer, reason: why });
    });
  }

  #whyNot(tunnel: Tunnel, hello: ServerHello): string | undefined {
    if (this.#session === tunnel) return "a second hello on one connection";
    const differs = mismatch(hello, this.#build);
    if (differs !== undefined) return differs;
    if (this.#session !== undefined) return "it is serving another server";
    return this.#process.hasServed ? "it is restarting" : undefined;
  }

  /** Starts the next process: each one serves a single server. */
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
      next[Symbol.dispose](); // when it ends, the next one is started
    }
  }

  #refused(socket: TLSSocket, reason: string): void {
    this.#options.onEvent({ kind: "refused", peer: peerAddress(socket), reason });
  }
}

/** The peer's address, with IPv4 in its usual notation even on a dual-stack socket. */
function peerAddress({ remoteAddress = "" }: TLSSocket): string {
  return remoteAddress.replace(/^::ffff:/, "");
}
