// The program of the process that computes for one server. What it is sent can at worst end it: the parent tells the server
// and starts another one. It has one socket, which the parent has made, and listens nowhere.
import { buildInfo, servePeerNative, toEngineError, type DeviceInfo } from "../native.ts";

/** The socket that the parent hands over, as a number of this process's. */
const socketFd = 3;

export interface ServeOrder {
  kind: "serve";
  devices: { name: string; bytesMax: number }[];
  threads: number;
}

/** Messages of the child. */
export type ChildReport =
  | { kind: "ready"; devices: DeviceInfo[] }
  /** `fault`: what was wrong with what the server sent; empty when it has hung up. */
  | { kind: "ended"; fault: string };

function send(report: ChildReport): Promise<void> {
  return new Promise((resolve) => process.send?.(report, undefined, undefined, () => resolve()));
}

async function serve({ devices, threads }: ServeOrder): Promise<void> {
  let fault = "";
  try {
    await servePeerNative({ fd: socketFd, devices, threads });
  } catch (error) {
    const known = toEngineError(error);
    fault = known instanceof Error ? known.message : String(known);
  }
  await send({ kind: "ended", fault });
  process.exit(0);
}

// Ctrl-C goes to every process of a terminal; the parent decides what it means.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
// Without the parent there is nobody to compute for. Only this ends a computation that is under way.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
process.once("message", (order: ServeOrder) => void serve(order));
const { devices } = await buildInfo();
await send({ kind: "ready", devices });
