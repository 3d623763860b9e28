// The program of the child process that computes for one server. Hostile input can at worst crash this process: the parent then reports
// the crash to the server and starts another process. Its only socket comes from the parent; it listens nowhere.
import { buildInfo, callAddon, toEngineError, type DeviceInfo } from "../addon.ts";

/** The file descriptor of the socket from the parent. */
const socketFd = 3;

export interface ServeCommand {
  kind: "serve";
  devices: { name: string; bytesMax: number }[];
  threads: number;
}

/** Messages of the child. */
export type ChildReport =
  | { kind: "ready"; devices: DeviceInfo[] }
  /** `fault` says what was wrong with the server's input; empty if the server disconnected. */
  | { kind: "ended"; fault: string };

function send(report: ChildReport): Promise<void> {
  return new Promise((resolve) => process.send?.(report, undefined, undefined, () => resolve()));
}

async function serve({ devices, threads }: ServeCommand): Promise<void> {
  let fault = "";
  try {
    await callAddon((addon) => addon.servePeer({ fd: socketFd, devices, threads }));
  } catch (error) {
    const known = toEngineError(error);
    fault = known instanceof Error ? known.message : String(known);
  }
  await send({ kind: "ended", fault });
  process.exit(0);
}

// Ctrl-C is sent to every process of a terminal; the parent decides when to stop.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
// Ends with the parent. Only SIGKILL ends a running computation.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
process.once("message", (order: ServeCommand) => void serve(order));
const { devices } = await buildInfo();
await send({ kind: "ready", devices });
