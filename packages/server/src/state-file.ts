// A small file in the user's config folder that the app reads at its next start. It is written atomically, readable only by its
// owner, and validated when it is read.
import { mkdir, open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { writeAtomically } from "@ingle/engine/atomic-file";
import { parseJson } from "@ingle/protocol/json-shape";
import type { z } from "zod";
import { WireError } from "./wire-error.ts";

/** Permissions for the owner only. */
const forOwner = { file: 0o600, folder: 0o700 };
/** Maximum size of a file: the app writes a few kilobytes. */
const bytesMax = 1024 * 1024;

export class StateFile<T> {
  readonly #file: string;
  #current: T;
  #problem: string | undefined;
  /** The last change; changes run one at a time. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(file: string, current: T, problem: string | undefined) {
    this.#file = file;
    this.#current = current;
    this.#problem = problem;
  }

  /** Never throws: an unusable file must not prevent a start, so `initial` replaces its content. */
  static async open<T>(file: string, schema: z.ZodType<T>, initial: T): Promise<StateFile<T>> {
    const found = await read(file, schema);
    if ("problem" in found)
      return new StateFile(file, initial, `The file ${file} cannot be used: ${found.problem}.`);
    return new StateFile(file, found.value ?? initial, undefined);
  }

  get current(): T {
    return this.#current;
  }

  /** A sentence that says why the file could not be used; undefined if it could, or once it is overwritten. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when all requested changes are written or have failed. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** Writes the state that `change` returns, which then becomes the current one. Throws what `change` throws. */
  async change(change: (current: T) => T): Promise<void> {
    const before = this.#last;
    const changed = (async () => {
      await before;
      const next = change(this.#current);
      await write(this.#file, next);
      this.#current = next;
      this.#problem = undefined;
    })();
    this.#last = changed.catch(() => {}); // the caller gets the error
    await changed;
  }
}

async function read<T>(
  file: string,
  schema: z.ZodType<T>,
): Promise<{ value: T | undefined } | { problem: string }> {
  let text: string;
  let handle: FileHandle | undefined;
  try {
    handle = await open(file);
    if ((await handle.stat()).size > bytesMax) return { problem: "it is too large" };
    text = await handle.readFile("utf8");
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    return code === "ENOENT" || code === "ENOTDIR" ? { value: undefined } : { problem: "it cannot be read" };
  } finally {
    await handle?.close();
  }
  const checked = schema.safeParse(parseJson(text));
  return checked.success
    ? { value: checked.data }
    : { problem: "it is damaged, or was written by another version of Ingle" };
}

async function write(file: string, value: unknown): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: forOwner.folder });
    await writeAtomically(file, `${JSON.stringify(value, undefined, 2)}\n`, forOwner.file);
  } catch (cause) {
    throw new WireError("internal", `The file ${file} cannot be written, so nothing was changed.`, { cause });
  }
}
