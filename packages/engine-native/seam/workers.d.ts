// Workers at the seam to TypeScript: machines that hold layers of a model, and serving as one.
import type { DeviceInfo } from "./process.d.ts";

/** A connection to a worker, made by `connectWorker`; pass it to `loadModel`. */
export interface NativeWorker {
  readonly nativeWorker: never;
}

export interface NativeConnectOptions {
  /** Identifies the worker in this process: one that reconnects with the same devices must have the same name. */
  name: string;
  /** Time limit for a response in milliseconds; after that, the connection counts as lost. */
  replyMsMax: number;
}

/** Attaches a worker. Returns one end of a socket pair (`fd`); JavaScript carries its bytes to and from the worker. */
export function connectWorker(options: NativeConnectOptions): {
  fd: number;
  worker: Promise<NativeWorker>;
};
/** The worker's devices, with their free memory now. */
export function workerDevices(worker: NativeWorker): Promise<DeviceInfo[]>;
/** True once the connection has failed, for good: computations with it end with `worker_lost`. */
export function isWorkerLost(worker: NativeWorker): boolean;
/** Makes the connection fail. */
export function loseWorker(worker: NativeWorker): void;

export interface NativeServeOptions {
  /** A connected socket; `servePeer` takes ownership. */
  fd: number;
  /** Names as in `buildInfo()`, and the bytes that the peer may allocate on each. */
  devices: { name: string; bytesMax: number }[];
  threads: number;
}

/** Computes for a peer until it disconnects. Rejects with `invalid_argument` if the peer sends an invalid request. */
export function servePeer(options: NativeServeOptions): Promise<void>;
