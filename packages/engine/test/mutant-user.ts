// Has model files used in a process of their own (use-mutants.js), many in a row, which may take so much memory and time and no more.
// Where it dies, the file that it was using is known, and the next one gets another process.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("use-mutants.js", import.meta.url));
/** Of one file, and of starting the process; a whole one takes some hundredths of a second. */
const limitMs = 60_000;
/** What the process may have for data, in KiB: a file that asks for more gets an error instead of the machine's memory. */
const dataKiB = 2 * 1024 * 1024;

export interface Use {
  /** By what was done: "ok" or the code of its error, with its message. */
  outcomes: Record<string, { code: string; message?: string }>;
  peakKiB: number;
  ms: number;
}

export interface Death {
  /** The signal or exit code, or that it took too long. */
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
    // Of what is set aside and not used, as V8 does, the limit takes no notice.
    const limited = ["-c", `ulimit -d ${dataKiB} && exec "$0" "$@"`, process.execPath, script];
    const child = process.platform === "win32" ? spawn(process.execPath, [script]) : spawn("sh", limited);
    this.#stderr = "";
    child.stderr.on(
      "data",
      (data: Buffer) => (this.#stderr = (this.#stderr + data.toString()).slice(-10_000)),
    );
    child.stdin.on("error", () => undefined); // its end is noticed by its silence
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
