// A process that computes for one server, seen from the worker's main process: started before it is needed, because a GPU
// takes seconds to begin.
import { fork, type ChildProcess } from "node:child_process";
import { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { EngineError } from "../errors.ts";
import type { DeviceInfo } from "../native.ts";
import type { ChildReport, ServeOrder } from "./worker-child.ts";

// The name in the build: a child process does not read TypeScript.
const program = fileURLToPath(new URL("worker-child.js", import.meta.url));
/** A driver of a GPU may take its time. */
const readyMsMax = 60_000;
/** What a dying process says comes last. */
const lastWordsMax = 2_000;

export class WorkerProcess implements Disposable {
  readonly #child: ChildProcess;
  readonly #ready: Promise<DeviceInfo[]>;
  readonly #ended: Promise<string>;
  #fault: string | undefined;
  #hasServed = false;
  #lastWords = "";

  constructor() {
    this.#child = fork(program, [], {
      execArgv: [],
      // Without it, ggml would start a debugger to tell where it ended.
      env: { ...process.env, GGML_NO_BACKTRACE: "1" },
      stdio: ["ignore", "ignore", "pipe", "pipe", "ipc"],
    });
    this.#child.stderr?.setEncoding("utf8");
    this.#child.stderr?.on("data", (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-lastWordsMax);
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once("error", (error) => resolve(error.message));
      this.#child.once("close", (code, signal) => resolve(this.#howItEnded(code, signal)));
    });
    this.#ready = this.#whenReady();
    this.#ready.catch(() => {}); // who asks for it is told
  }

  /** What this machine has. Throws `engine_failed` when the process cannot start. */
  async devices(): Promise<DeviceInfo[]> {
    return await this.#ready;
  }

  /** Begins to compute for who is at the other end of this socket. */
  serve(order: Omit<ServeOrder, "kind">): Duplex {
    // Node makes one for each "pipe" above 2; its types say "readable or writable".
    const socket = this.#child.stdio[3];
    if (!(socket instanceof Duplex)) throw new Error("A process that was started with a socket has one.");
    this.#hasServed = true;
    this.#child.send({ kind: "serve", ...order } satisfies ServeOrder, () => {}); // `ended` tells of one that is gone
    return socket;
  }

  /** It was given a server, and is of no use to another one. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** Resolves when the process is gone, with what was wrong; empty when the server has hung up. */
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
      const timer = setTimeout(() => fail(`it was not ready in ${readyMsMax / 1000} seconds`), readyMsMax);
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
    if (signal === "SIGKILL") return "the computing process was killed, most likely for want of memory";
    const words = this.#lastWords.trim().split("\n").at(-1) ?? "";
    return `the computing process ended (${signal ?? `exit code ${code}`})${words === "" ? "" : `: ${words}`}`;
  }
}
