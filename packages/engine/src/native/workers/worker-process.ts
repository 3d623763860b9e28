// The worker's handle of a child process that computes for one server. The process is started before a server connects, because
// initializing a GPU takes seconds.
import type { ChildProcess } from "node:child_process";
import { Duplex } from "node:stream";
import { forkProgram, keepStderr } from "../child-program.ts";
import { EngineError } from "../../base/errors.ts";
import type { DeviceInfo } from "../addon.ts";
import type { ChildReport, ServeCommand } from "./worker-child.ts";

const program = new URL("worker-child.js", import.meta.url);
/** GPU drivers may take long to initialize. */
const readyMsMax = 60_000;
/** How many characters of stderr to keep. */
const stderrLengthMax = 2_000;

export class WorkerProcess implements Disposable {
  readonly #child: ChildProcess;
  readonly #ready: Promise<DeviceInfo[]>;
  readonly #ended: Promise<string>;
  #fault: string | undefined;
  #hasServed = false;
  readonly #lastOutput: () => string;

  constructor() {
    this.#child = forkProgram(program, { stdio: ["ignore", "ignore", "pipe", "pipe", "ipc"] });
    this.#lastOutput = keepStderr(this.#child, stderrLengthMax);
    this.#ended = new Promise((resolve) => {
      this.#child.once("error", (error) => resolve(error.message));
      this.#child.once("close", (code, signal) => resolve(this.#howItEnded(code, signal)));
    });
    this.#ready = this.#whenReady();
    this.#ready.catch(() => {}); // devices() reports the error
  }

  /** The devices of this machine. Throws `engine_failed` if the process cannot start. */
  async devices(): Promise<DeviceInfo[]> {
    return await this.#ready;
  }

  /** Starts to compute for a server; returns the socket that carries its bytes. */
  serve(order: Omit<ServeCommand, "kind">): Duplex {
    // Node creates a duplex socket for each "pipe" above 2, but its types say "readable or writable".
    const socket = this.#child.stdio[3];
    if (!(socket instanceof Duplex)) throw new Error("The child process has no socket at descriptor 3.");
    this.#hasServed = true;
    this.#child.send({ kind: "serve", ...order } satisfies ServeCommand, () => {}); // `ended` reports a process that is gone
    return socket;
  }

  /** True once it has been given a server; it cannot serve another one. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** Resolves with the fault when the process has ended; empty if the server disconnected. */
  get ended(): Promise<string> {
    return this.#ended;
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }

  async #whenReady(): Promise<DeviceInfo[]> {
    return await new Promise((resolve, reject) => {
      const fail = (why: string): void =>
        reject(new EngineError("engine_failed", `The worker's computing process could not start: ${why}.`));
      const timer = setTimeout(
        () => fail(`it was not ready within ${readyMsMax / 1000} seconds`),
        readyMsMax,
      );
      void this.#ended
        .then((why) => fail(why === "" ? "it ended at once" : why))
        .finally(() => clearTimeout(timer));
      this.#child.on("message", (report: ChildReport) => {
        clearTimeout(timer);
        if (report.kind === "ready") resolve(report.devices);
        else this.#fault = report.fault;
      });
    });
  }

  #howItEnded(code: number | null, signal: NodeJS.Signals | null): string {
    if (this.#fault !== undefined) return this.#fault;
    if (signal === "SIGKILL")
      return "the computing process was killed, most likely because the machine ran out of memory";
    const words = this.#lastOutput().split("\n").at(-1) ?? "";
    return `the computing process ended (${signal ?? `exit code ${code}`})${words === "" ? "" : `: ${words}`}`;
  }
}
