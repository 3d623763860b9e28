// Where `ingle batch` writes its results, and which ones are there already.
import { Tally } from "../../batches/tally.ts";
import { ResultLog } from "../../batches/result-log.ts";
import type { BatchResult } from "@ingle/protocol";
import type { CommandContext } from "../context.ts";

export class BatchOutput implements AsyncDisposable {
  readonly #tally: Tally;
  /** The numbers of lines that are there as wrong. */
  readonly #wrongLines: ReadonlySet<number>;
  readonly #write: (result: BatchResult) => Promise<void>;
  readonly #close: () => Promise<void>;

  private constructor(
    { tally, wrongLines }: { tally: Tally; wrongLines: ReadonlySet<number> },
    { write, close }: { write: (result: BatchResult) => Promise<void>; close: () => Promise<void> },
  ) {
    this.#tally = tally;
    this.#wrongLines = wrongLines;
    this.#write = write;
    this.#close = close;
  }

  /** `-` is stdout, where nothing is there already. Throws as `ResultLog.open`. */
  static async open(file: string, { stdout }: Pick<CommandContext, "stdout">): Promise<BatchOutput> {
    const tally = new Tally();
    const wrongLines = new Set<number>();
    if (file === "-") {
      const write = async (result: BatchResult): Promise<void> => {
        stdout.write(`${JSON.stringify(result)}\n`);
      };
      return new BatchOutput({ tally, wrongLines }, { write, close: async () => {} });
    }
    const log = await ResultLog.open(file, (result) => {
      const line = result.error?.line;
      if (line !== undefined) wrongLines.add(line);
      tally.add(line === undefined ? result : { ...result, custom_id: null });
    });
    return new BatchOutput(
      { tally, wrongLines },
      {
        write: async (result) => await log.append(result),
        close: async () => await log[Symbol.asyncDispose](),
      },
    );
  }

  /** Whether a request has its result. */
  has(customId: string): boolean {
    return this.#tally.done.has(customId);
  }

  /** Whether a wrong line has its result. */
  hasLine(number: number): boolean {
    return this.#wrongLines.has(number);
  }

  /** Results so far, those of earlier commands included. */
  get counts(): { done: number; failed: number } {
    const { completed, failed } = this.#tally;
    return { done: completed + failed, failed };
  }

  /** Resolves when the result is written. */
  async add(result: BatchResult): Promise<void> {
    await this.#write(result);
    this.#tally.add(result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}
