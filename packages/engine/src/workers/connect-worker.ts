// From a server to one worker: the tunnel, the hello, and the devices that the engine then uses.
import { once } from "node:events";
import { Socket } from "node:net";
import { hostname } from "node:os";
import { connect, type TLSSocket } from "node:tls";
import { EngineError } from "../errors.ts";
import {
  attachWorker,
  buildInfo,
  type AttachedWorker,
  type DeviceInfo,
  type NativeWorker,
} from "../native.ts";
import {
  offerName,
  parseHello,
  tunnelVersion,
  WorkerHello,
  type OfferedDevice,
  type ServerHello,
} from "./hello.ts";
import { hasProvedKey, peerTls } from "./tunnel-tls.ts";
import { patienceDefault, Tunnel, type Patience } from "./tunnel.ts";
import { addressText, type WorkerAddress } from "./worker-address.ts";
import type { WorkerKey } from "./worker-key.ts";

/** Name, TCP, TLS and hello: a worker of the same network needs a few milliseconds, one that starts its GPU a few seconds. */
const connectMsMax = 10_000;
/** One answer. The longest computation of a step is a batch of a prompt, which takes a slow processor minutes. */
const replyMsMax = 10 * 60_000;

export interface ConnectWorkerOptions {
  address: WorkerAddress;
  key: WorkerKey;
  patience?: Patience;
  signal?: AbortSignal | undefined;
}

/** A connection that has been good, and is until `lost` resolves. Disposing of it frees what the worker holds for it. */
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

  /** Resolves when it is lost, with why. */
  get lost(): Promise<string> {
    return this.#tunnel.closed;
  }

  /** As the engine names them, with what the worker lets this server take; `memoryFree` is what is left of that. */
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
    this.#tunnel.close("the server needs the worker no longer");
  }
}

/**
 * Throws `worker_unreachable` (nobody answers, or not in time), `worker_refused` (another key, another version, in use by
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
    return await shakeHands(peer, address, options.patience ?? patienceDefault, until);
  } catch (error) {
    peer?.destroy();
    signal?.throwIfAborted();
    if (EngineError.is(error)) throw error;
    throw unreachable(address, tooLate.aborted ? `no answer in ${connectMsMax / 1000} seconds` : error);
  }
}

async function openTls({ address, key }: ConnectWorkerOptions, signal: AbortSignal): Promise<TLSSocket> {
  const { host, port } = address;
  const peer = connect({ ...peerTls(key), host, port });
  peer.setNoDelay(true); // a step of the engine is a handful of small messages, one after the other
  peer.on("error", () => {}); // once() below tells the first one; the tunnel listens for others
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
  patience: Patience,
  signal: AbortSignal,
): Promise<ConnectedWorker> {
  let giveUp = (): void => {};
  let onHello: (hello: WorkerHello) => void = () => {};
  const tunnel = new Tunnel(peer, (payload) => onHello(parseHello(WorkerHello, payload)), patience);
  const answered = new Promise<WorkerHello>((resolve, reject) => {
    onHello = resolve;
    giveUp = () => reject(new Error("given up", { cause: signal.reason }));
    void tunnel.closed.then((reason) => reject(new Error(reason)));
  });
  answered.catch(() => {}); // told to who waits for it, if anybody still does
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
    const answer = await answered;
    if (answer.kind === "refusal") throw refused(address, answer.reason);
    return await attach(tunnel, peer, address, answer.devices);
  } catch (error) {
    tunnel.close("the server could not go on");
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
  // A model that nobody uses keeps no process alive, and so neither do the workers that hold a part of it.
  tunnel.carry(new Socket({ fd }).unref());
  const attached = await worker.catch((cause: unknown) => {
    throw unreachable(address, "it does not compute", cause);
  });
  peer.unref();
  return new ConnectedWorker(address, attached, tunnel, offers);
}

/** OpenSSL's own codes: the connection was there, and the handshake failed. */
function isTlsFailure(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    /^(ERR_SSL|EPROTO|ERR_TLS|CERT_|DEPTH_|SELF_|UNABLE_)/.test(String(error.code))
  );
}

const refusedKey =
  "it has another key, or is no worker of Ingle. Run `ingle worker --pair` there, and here what it prints";

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
    `The worker ${address} cannot be reached: ${words}. Start \`ingle worker\` there, and let its port through.`,
    { cause, details: { worker: address } },
  );
}
