// A program that runs on one of the hosts of namespaces.ts: its exit, its signals, and the end of its output.
import type { ChildProcess } from "node:child_process";

/** How many characters of each output stream are kept: enough for an error message. */
const outputMax = 64 * 1024;
/** How many characters of output an error message contains. */
const tailMax = 2_000;

export class HostProcess {
  readonly name: string;
  readonly pid: number;
  /** The exit code; null if a signal ended the program. */
  readonly ended: Promise<number | null>;
  readonly child: ChildProcess;
  readonly #output = { stdout: "", stderr: "" };
  readonly #listeners = new Set<() => void>();
  #hasEnded = false;

  constructor(name: string, child: ChildProcess) {
    this.name = name;
    this.child = child;
    this.pid = child.pid ?? -1;
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream]?.setEncoding("utf8").on("data", (text: string) => {
        this.#output[stream] = (this.#output[stream] + text).slice(-outputMax);
        this.#tell();
      });
    }
    this.ended = new Promise((resolve) => {
      const end = (code: number | null): void => {
        this.#hasEnded = true;
        resolve(code);
        this.#tell();
      };
      child.once("close", end);
      child.once("error", (error) => {
        this.#output.stderr += error.message;
        end(-1);
      });
    });
  }

  get stdout(): string {
    return this.#output.stdout;
  }

  get stderr(): string {
    return this.#output.stderr;
  }

  /** Resolves when the program has written `text` to stdout. Throws if it ends first or takes longer than `limitMs`. */
  async written(text: string, limitMs: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        if (error === undefined) resolve();
        else reject(error);
      };
      const look = (): void => {
        if (this.stdout.includes(text)) settle();
        else if (this.#hasEnded) settle(this.failure(`ended before it wrote "${text}"`));
      };
      const timer = setTimeout(
        () => settle(this.failure(`did not write "${text}" in ${limitMs} ms`)),
        limitMs,
      );
      this.#listeners.add(look);
      look();
    });
  }

  /** Sends the signal and resolves with the exit code. Throws if it takes longer than `limitMs`. */
  async stop(signal: NodeJS.Signals, limitMs: number): Promise<number | null> {
    this.child.kill(signal);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.failure(`did not end ${limitMs} ms after ${signal}`)), limitMs);
    });
    try {
      return await Promise.race([this.ended, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** An error that says what the program did and quotes the end of its output. */
  failure(what: string): Error {
    return new Error(
      `${this.name} ${what}. Its last output:\n${`${this.stdout}\n${this.stderr}`.trim().slice(-tailMax)}`,
    );
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
