// Uses model files in a child process (use-mutants.js), many in a row, with limits of memory and time. If the process dies, the file that it
// was using is known, and the next file gets a new process.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("use-mutants.js", import.meta.url));
/** Time limits of one file and of starting the process. A valid file takes a few hundredths of a second. */
const limitMs = 60_000;
/** The process's limit of data memory, in KiB: a file that needs more gets an error. */
const dataKiB = 2 * 1024 * 1024;

export interface Use {
  /** The outcome of each operation: "ok", or its error's code and message. */
  outcomes: Record<string, { code: string; message?: string }>;
  peakKiB: number;
  ms: number;
}

export interface Death {
  /** The signal, the exit code, or a timeout. */
  end: string;
  stderr: string;
}

export class MutantUser implements AsyncDisposable {
  #child: ChildProcessWithoutNullStreams | undefined;
  #lines: AsyncIterator<string> | undefined;
  #stderr = "";

  /** Loads and uses the file. */
  async use(path: string): Promise<Use | Death> {
    const start = performance.now();
    const child = (this.#child ??= this.#start());
    child.stdin.write(`${path}\n`);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, limitMs);
    const line = await this.#lines?.next();
    clearTimeout(timer);
    if (line?.done === false) return { ...JSON.parse(line.value), ms: performance.now() - start };
    if (child.exitCode === null && child.signalCode === null) await once(child, "close");
    this.#child = undefined;
    return {
      end: isLate ? `more than ${limitMs} ms` : String(child.signalCode ?? child.exitCode),
      stderr: this.#stderr,
    };
  }

  #start(): ChildProcessWithoutNullStreams {
    // The limit does not count memory that is reserved but unused, such as V8's.
    const limited = ["-c", `ulimit -d ${dataKiB} && exec "$0" "$@"`, process.execPath, script];
    const child = process.platform === "win32" ? spawn(process.execPath, [script]) : spawn("sh", limited);
    this.#stderr = "";
    child.stderr.on(
      "data",
      (data: Buffer) => (this.#stderr = (this.#stderr + data.toString()).slice(-10_000)),
    );
    child.stdin.on("error", () => undefined); // its end is detected by the missing output
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    child.stdin.end();
    await once(child, "close");
  }
}
