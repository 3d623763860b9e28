// The connections of this process to workers. A worker computes for one process at a time, so its models share one
// connection; it is kept for a moment after the last use, because a model is first measured and then loaded.
import { z } from "zod";
import { EngineError } from "../errors.ts";
import { connectWorker, type ConnectedWorker } from "./connect-worker.ts";
import { addressText, WorkerAddress, workersMax } from "./worker-address.ts";
import { readWorkerKey, workerKeyFile } from "./worker-key.ts";
import type { DeviceInfo } from "../native.ts";

/** Between measuring a model and loading it. */
const lingerMs = 5_000;

export const RpcOptions = z.object({
  /** `host:port` of each worker; without a port the usual one, 50052. */
  workers: z.array(WorkerAddress).min(1).max(workersMax),
  /** The file of the shared key. Default: where `ingle worker --pair` has put it. */
  keyFile: z.string().min(1).optional(),
});
export type RpcOptions = z.output<typeof RpcOptions>;

interface Shared {
  worker: Promise<ConnectedWorker>;
  users: number;
  linger: NodeJS.Timeout | undefined;
}

const connections = new Map<string, Shared>();

/** Workers in use; they stay connected until this is disposed of. */
export interface WorkersLease extends Disposable {
  readonly workers: readonly ConnectedWorker[];
  /** Resolves with `worker_lost` when the first of them is lost. */
  readonly lost: Promise<EngineError>;
}

/**
 * Connects to all workers, or takes the connections that are there. Throws `invalid_request` (no key), `worker_unreachable`,
 * `worker_refused` or the signal's reason.
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
  let isHeld = true;
  const release = (): void => {
    if (!isHeld) return;
    isHeld = false;
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

/** The devices of these workers, as they count for `memoryBudget()`. Throws what leasing them throws. */
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
  const message = `rpc: ${result.error.issues[0]?.message ?? "cannot be used"}.`;
  throw new EngineError("invalid_request", message, { cause: result.error, details: { param: "rpc" } });
}

function leave(name: string, shared: Shared): void {
  shared.users -= 1;
  if (shared.users > 0) return;
  shared.linger = setTimeout(() => {
    forget(name, shared);
    void shared.worker.then((worker) => worker[Symbol.dispose]()).catch(() => {}); // it was never there
  }, lingerMs).unref();
}

function lostError(worker: string, reason: string): EngineError {
  return new EngineError(
    "worker_lost",
    `The worker ${worker}, which holds a part of the model, is lost: ${reason}.`,
    { details: { worker } },
  );
}

/** The next one who asks gets a new connection. */
function forget(name: string, shared: Shared): void {
  if (connections.get(name) === shared) connections.delete(name);
}
