// The connections of this process to workers. A worker serves one process at a time, so all models of the process share one connection.
// It stays open for a moment after its last use, because a model is measured before it is loaded.
import { z } from "zod";
import { EngineError, invalidRequest } from "../../base/errors.ts";
import { connectWorker, type ConnectedWorker } from "./connect-worker.ts";
import { addressText, WorkerAddress, workersMax } from "./worker-address.ts";
import { readWorkerKey, workerKeyFile } from "./worker-key.ts";
import type { DeviceInfo } from "../addon.ts";

/** How long an unused connection stays open: longer than the time between measuring a model and loading it. */
const lingerMs = 5_000;

export const RpcOptions = z.object({
  /** `host:port` of each worker; the default port is 50052. */
  workers: z.array(WorkerAddress).min(1).max(workersMax),
  /** The file with the shared key. Default: the file that `ingle worker --pair` writes. */
  keyFile: z.string().min(1).optional(),
});
export type RpcOptions = z.output<typeof RpcOptions>;

interface Shared {
  worker: Promise<ConnectedWorker>;
  users: number;
  linger: NodeJS.Timeout | undefined;
}

const connections = new Map<string, Shared>();

/** Keeps workers connected until it is disposed of. */
export interface WorkersLease extends Disposable {
  readonly workers: readonly ConnectedWorker[];
  /** Resolves with `worker_lost` when the first of the workers is lost. */
  readonly lost: Promise<EngineError>;
}

/**
 * Connects to all workers, or reuses open connections. Throws `invalid_request` (no key), `worker_unreachable`, `worker_refused` or the
 * signal's reason.
 */
export async function leaseWorkers(options: RpcOptions, signal?: AbortSignal): Promise<WorkersLease> {
  const key = await readWorkerKey(options.keyFile ?? workerKeyFile());
  signal?.throwIfAborted();
  const names = options.workers.map((address) => `${addressText(address)} ${key.id}`);
  const pending = options.workers.map((address, index) => {
    const name = names[index] ?? "";
    const shared = connections.get(name) ?? {
      worker: connectWorker({ address, key }),
      users: 0,
      linger: undefined,
    };
    connections.set(name, shared);
    shared.users += 1;
    clearTimeout(shared.linger);
    void shared.worker.then(
      ({ lost }) => lost.then(() => forget(name, shared)),
      () => forget(name, shared),
    );
    return shared;
  });
  let isLeased = true;
  const release = (): void => {
    if (!isLeased) return;
    isLeased = false;
    for (const [index, shared] of pending.entries()) leave(names[index] ?? "", shared);
  };
  try {
    const workers = await Promise.all(pending.map(({ worker }) => worker));
    signal?.throwIfAborted();
    const lost = Promise.race(workers.map(async (worker) => lostError(worker.address, await worker.lost)));
    return { workers, lost, [Symbol.dispose]: release };
  } catch (error) {
    release();
    throw error;
  }
}

/** The devices of these workers, for `memoryBudget()`. Throws the same errors as `leaseWorkers`. */
export async function workerDevices(
  options: z.input<typeof RpcOptions>,
  signal?: AbortSignal,
): Promise<DeviceInfo[]> {
  using lease = await leaseWorkers(checkRpc(options), signal);
  const devices = await Promise.all(lease.workers.map((worker) => worker.devices()));
  return devices.flat();
}

function checkRpc(options: z.input<typeof RpcOptions>): RpcOptions {
  const result = RpcOptions.safeParse(options);
  if (result.success) return result.data;
  throw invalidRequest("rpc", `${result.error.issues[0]?.message ?? "invalid value"}.`, result.error);
}

function leave(name: string, shared: Shared): void {
  shared.users -= 1;
  if (shared.users > 0) return;
  shared.linger = setTimeout(() => {
    forget(name, shared);
    void shared.worker.then((worker) => worker[Symbol.dispose]()).catch(() => {}); // it never connected
  }, lingerMs).unref();
}

function lostError(worker: string, reason: string): EngineError {
  return new EngineError(
    "worker_lost",
    `The worker ${worker}, which holds a part of the model, was lost: ${reason}.`,
    { details: { worker } },
  );
}

/** Forgets a connection; the next lease opens a new one. */
function forget(name: string, shared: Shared): void {
  if (connections.get(name) === shared) connections.delete(name);
}
