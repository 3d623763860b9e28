// The temporary folder with a program's configuration.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { JsonObject } from "./recipe.ts";

/** The files may hold a key: only their owner reads them. The folder that `mkdtemp` makes has such permissions by itself. */
const forOwner = { file: 0o600, folder: 0o700 };
/** Windows removes a file only once every program has closed it. */
const removeRetries = 5;

/** Removed when disposed. */
export class ConfigFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(folder: string) {
    this.path = folder;
  }

  static async create(): Promise<ConfigFolder> {
    return new ConfigFolder(await mkdtemp(path.join(tmpdir(), "ingle-launch-")));
  }

  /** Writes files by their paths in the folder. */
  async write(files: Readonly<Record<string, JsonObject>>): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(this.path, name);
      await mkdir(path.dirname(file), { recursive: true, mode: forOwner.folder });
      await writeFile(file, jsonText(content), { mode: forOwner.file });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: removeRetries });
  }
}

/** A file's text. */
export function jsonText(content: unknown): string {
  return `${JSON.stringify(content, undefined, 2)}\n`;
}
