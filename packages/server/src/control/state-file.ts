// A small file in the user's config folder that the app writes and reads again at its next start: written whole or not at all,
// readable by its owner alone, checked when it is read.
import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { z } from "zod";
import { WireError } from "../wire-error.ts";

/** Rights for the owner alone. */
const forOwner = { file: 0o600, folder: 0o700 };
/** Largest file that is read: the app writes a few kilobytes. */
const bytesMax = 1024 * 1024;

export class StateFile<T> {
  readonly #file: string;
  #current: T;
  #problem: string | undefined;
  /** Changes happen one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(file: string, current: T, problem: string | undefined) {
    this.#file = file;
    this.#current = current;
    this.#problem = problem;
  }

  /** Never throws: a file that cannot be used keeps nobody from starting, and its place takes `usual`. */
  static async open<T>(file: string, schema: z.ZodType<T>, usual: T): Promise<StateFile<T>> {
    const found = await read(file, schema);
    if ("problem" in found)
      return new StateFile(file, usual, `The file ${file} cannot be used: ${found.problem}.`);
    return new StateFile(file, found.value ?? usual, undefined);
  }

  get current(): T {
    return this.#current;
  }

  /** Why the file could not be used, in a sentence; undefined where it could, and once it is written anew. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when the changes that were asked for are made, or have failed. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** Writes what `change` makes of the current state, which holds from then on. Throws what `change` throws. */
  async change(change: (current: T) => T): Promise<void> {
    const before = this.#last;
    const changed = (async () => {
      await before;
      const next = change(this.#current);
      await write(this.#file, next);
      this.#current = next;
      this.#problem = undefined;
    })();
    this.#last = changed.catch(() => {}); // told to whoever asked for it
    await changed;
  }
}

async function read<T>(
  file: string,
  schema: z.ZodType<T>,
): Promise<{ value: T | undefined } | { problem: string }> {
  let text: string;
  try {
    await using handle = await open(file);
    if ((await handle.stat()).size > bytesMax) return { problem: "it is too large" };
    text = await handle.readFile("utf8");
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    return code === "ENOENT" || code === "ENOTDIR" ? { value: undefined } : { problem: "it cannot be read" };
  }
  const checked = schema.safeParse(jsonOf(text));
  return checked.success
    ? { value: checked.data }
    : { problem: "it is damaged, or was written by another version of Ingle" };
}

async function write(file: string, value: unknown): Promise<void> {
  const unfinished = `${file}.${randomUUID()}.part`;
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: forOwner.folder });
    {
      await using handle = await open(unfinished, "wx", forOwner.file);
      await handle.writeFile(`${JSON.stringify(value, undefined, 2)}\n`);
      await handle.sync();
    }
    await rename(unfinished, file);
  } catch (cause) {
    await rm(unfinished, { force: true }).catch(() => {}); // the folder may be what cannot be written
    throw new WireError("internal", `The file ${file} cannot be written, so nothing was changed.`, { cause });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no schema takes it
  }
}
