// Connects a server to one worker: opens the tunnel, exchanges hellos, and attaches the worker's devices to the engine.
import { Socket } from "node:net";
import { once } from "node:events";
import { hostname } from "node:os";
import { connect, type TLSSocket } from "node:tls";
import { errorCode, EngineError } from "../../base/errors.ts";
import {
  attachWorker,
  buildInfo,
  type AttachedWorker,
  type DeviceInfo,
  type NativeWorker,
} from "../addon.ts";
import {
  offerName,
  parseHello,
  tunnelVersion,
  WorkerHello,
  type OfferedDevice,
  type ServerHello,
} from "./hello.ts";
import { hasProvedKey, peerTls } from "./tunnel-tls.ts";
import { keepAliveDefault, Tunnel, type KeepAlive } from "./tunnel.ts";
import { addressText, type WorkerAddress } from "./worker-address.ts";
import type { WorkerKey } from "./worker-key.ts";

/** For the name lookup, TCP, TLS and hello. On a local network, they take milliseconds; a worker that is starting its GPU needs seconds. */
const connectMsMax = 10_000;
/** For one reply. The longest computation is a batch of a prompt, which takes minutes on a slow processor. */
const replyMsMax = 10 * 60_000;

interface ConnectWorkerOptions {
  address: WorkerAddress;
  key: WorkerKey;
  patience?: KeepAlive;
  signal?: AbortSignal | undefined;
}

/** An established connection, usable until `lost` resolves. Disposing of it frees the worker's memory for this server. */
export class ConnectedWorker implements Disposable {
  readonly address: string;
  readonly #attached: AttachedWorker;
  readonly #tunnel: Tunnel;
  readonly #offers: readonly OfferedDevice[];

  constructor(address: string, attached: AttachedWorker, tunnel: Tunnel, offers: readonly OfferedDevice[]) {
    this.address = address;
    this.#attached = attached;
    this.#tunnel = tunnel;
    this.#offers = offers;
  }

  get native(): NativeWorker {
    return this.#attached.native;
  }

  get isLost(): boolean {
    return this.#tunnel.isClosed || this.#attached.isLost();
  }

  /** Resolves with the reason when the connection is lost. Never rejects. */
  get lost(): Promise<string> {
    return this.#tunnel.closed;
  }

  /** The worker's devices. `memoryTotal` is the memory that the worker offers, `memoryFree` the unused part of it. */
  async devices(): Promise<DeviceInfo[]> {
    const devices = await this.#attached.devices();
    return devices.map((device, index) => {
      const offer = this.#offers[index];
      const { name = "", description = "", bytes = device.memoryTotal } = offer ?? {};
      return { ...device, description: `${name} of ${this.address} (${description})`, memoryTotal: bytes };
    });
  }

  [Symbol.dispose](): void {
    this.#attached.lose();
    this.#tunnel.close("the server no longer needs the worker");
  }
}

/**
 * Connects to a worker. Throws `worker_unreachable` (no response in time), `worker_refused` (another key, another version, or in use by
 * another server), or the signal's reason.
 */
export async function connectWorker(options: ConnectWorkerOptions): Promise<ConnectedWorker> {
  const { signal } = options;
  const address = addressText(options.address);
  const tooLate = AbortSignal.timeout(connectMsMax);
  const until = signal === undefined ? tooLate : AbortSignal.any([signal, tooLate]);
  let peer: TLSSocket | undefined;
  try {
    peer = await openTls(options, until);
    return await shakeHands(peer, address, options.patience ?? keepAliveDefault, until);
  } catch (error) {
    peer?.destroy();
    signal?.throwIfAborted();
    if (EngineError.is(error)) throw error;
    throw unreachable(address, tooLate.aborted ? `no response within ${connectMsMax / 1000} seconds` : error);
  }
}

async function openTls({ address, key }: ConnectWorkerOptions, signal: AbortSignal): Promise<TLSSocket> {
  const { host, port } = address;
  const peer = connect({ ...peerTls(key), host, port });
  peer.setNoDelay(true); // a step of the engine sends a few small messages, one after another
  peer.on("error", () => {}); // once() below reports the first error; the tunnel listens for later ones
  try {
    await once(peer, "secureConnect", { signal });
  } catch (error) {
    peer.destroy();
    throw isTlsFailure(error) ? refused(addressText(address), refusedKey, error) : error;
  }
  if (hasProvedKey(peer)) return peer;
  peer.destroy();
  throw refused(addressText(address), refusedKey);
}

async function shakeHands(
  peer: TLSSocket,
  address: string,
  patience: KeepAlive,
  signal: AbortSignal,
): Promise<ConnectedWorker> {
  let giveUp = (): void => {};
  let onHello: (hello: WorkerHello) => void = () => {};
  const tunnel = new Tunnel(peer, (payload) => onHello(parseHello(WorkerHello, payload)), patience);
  const received = new Promise<WorkerHello>((resolve, reject) => {
    onHello = resolve;
    giveUp = () => reject(new Error("aborted", { cause: signal.reason }));
    void tunnel.closed.then((reason) => reject(new Error(reason)));
  });
  received.catch(() => {}); // the error reaches the code that awaits the promise, if any still does
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    const { version, llamaCpp } = await buildInfo();
    const own: ServerHello = {
      tunnel: tunnelVersion,
      sources: llamaCpp.sources,
      version,
      host: hostname().slice(0, 200),
    };
    tunnel.hello(own);
    const response = await received;
    if (response.kind === "refusal") throw refused(address, response.reason);
    return await attach(tunnel, peer, address, response.devices);
  } catch (error) {
    tunnel.close("the server failed to set up the connection");
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

async function attach(
  tunnel: Tunnel,
  peer: TLSSocket,
  address: string,
  offers: readonly OfferedDevice[],
): Promise<ConnectedWorker> {
  const { fd, worker } = await attachWorker({ name: offerName(address, offers), replyMsMax });
  // An idle model does not keep the process alive, so the connections to its workers must not either.
  tunnel.carry(new Socket({ fd }).unref());
  const attached = await worker.catch((cause: unknown) => {
    throw unreachable(address, "it did not start to compute", cause);
  });
  peer.unref();
  return new ConnectedWorker(address, attached, tunnel, offers);
}

/** Whether the error is one of OpenSSL: the connection was established, but the handshake failed. */
function isTlsFailure(error: unknown): boolean {
  return /^(ERR_SSL|EPROTO|ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_)/.test(errorCode(error) ?? "");
}

const refusedKey =
  "it has another key, or is not an Ingle worker. Run `ingle worker --pair` there, and the command that it prints here";

function refused(address: string, reason: string, cause?: unknown): EngineError {
  return new EngineError("worker_refused", `The worker ${address} refuses this server: ${reason}.`, {
    cause,
    details: { worker: address },
  });
}

function unreachable(address: string, why: unknown, cause: unknown = why): EngineError {
  const words = why instanceof Error && why.message !== "" ? why.message : String(why);
  return new EngineError(
    "worker_unreachable",
    `The worker ${address} cannot be reached: ${words}. Start \`ingle worker\` there, and allow its port in the firewall.`,
    { cause, details: { worker: address } },
  );
}
