// Reads the traits of many model files from their headers, in the background.
import { setTimeout } from "node:timers/promises";
import type { ModelTraits } from "@ingle/engine";

/** How long a list of models waits for headers that were not read yet: some twenty of them on a slow disk. */
const waitMs = 500;

export class FileTraits {
  readonly #read: (path: string) => Promise<ModelTraits | undefined>;
  #reading: Promise<void> | undefined;
  readonly #found = new Map<string, ModelTraits>();

  /** @param read reads one file; fast for a file that it has read before. Returns undefined for expected errors. */
  constructor(read: (path: string) => Promise<ModelTraits | undefined>) {
    this.#read = read;
  }

  /**
   * Traits by path, for the files that are read in time. The others are then read one after another, for the next call.
   */
  async of(paths: readonly string[]): Promise<ReadonlyMap<string, ModelTraits>> {
    // Reset here and not at the end of the reading, which without files ends before the assignment.
    this.#reading ??= this.#readAll(paths).finally(() => {
      this.#reading = undefined;
    });
    const enough = new AbortController();
    try {
      const late = setTimeout(waitMs, undefined, { ref: false, signal: enough.signal });
      await Promise.race([this.#reading, late]);
    } finally {
      enough.abort();
    }
    return new Map(this.#found);
  }

  async #readAll(paths: readonly string[]): Promise<void> {
    const gone = new Set(this.#found.keys());
    for (const path of paths) {
      const traits = await this.#read(path);
      if (traits === undefined) continue;
      this.#found.set(path, traits);
      gone.delete(path);
    }
    for (const path of gone) this.#found.delete(path);
  }
}
