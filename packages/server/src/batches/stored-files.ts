// The files of /v1/files: their contents lie in a folder, and what is known of them in its database. Each belongs to the key that made it.
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { fileNameLengthMax, filesMax, type FileObject, type ReceivedFile } from "@ingle/protocol";
import { toUnixSeconds } from "../seconds.ts";
import { WireError } from "../wire-error.ts";
import type { BatchStore, ListPage, PageQuery } from "./batch-store.ts";

interface FileOptions {
  readonly store: BatchStore;
  readonly folder: string;
  /** Maximum size of all files together, in bytes. */
  readonly bytesMax: number;
  readonly now: () => Date;
}

export class StoredFiles {
  readonly #options: FileOptions;

  /** Makes the folder, and removes what an earlier process left of files that it was receiving. */
  constructor(options: FileOptions) {
    this.#options = options;
    rmSync(this.#incoming, { recursive: true, force: true });
    for (const folder of [this.#contents, this.#incoming])
      mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  get #contents(): string {
    return path.join(this.#options.folder, "files");
  }

  get #incoming(): string {
    return path.join(this.#options.folder, "incoming");
  }

  /** Where the content of a file lies. The id is one of ours. */
  pathOf(id: string): string {
    return path.join(this.#contents, `${id}.jsonl`);
  }

  /** A path for a file that is being received. */
  newPath(): string {
    return path.join(this.#incoming, randomUUID());
  }

  /** Throws `invalid_request` if the owner has as many files as one may have, and `disk_full` if all files together are too large. */
  assertHasRoom(owner: string): void {
    const { ofOwner, bytesOfAll } = this.#options.store.fileCounts(owner);
    if (ofOwner >= filesMax) {
      const message = `You have ${filesMax} files, which is the maximum. Delete some: DELETE /v1/files/{id}.`;
      throw new WireError("invalid_request", message);
    }
    if (bytesOfAll < this.#options.bytesMax) return;
    const message = "The files of this server have reached --batch-store-size. Delete some, or raise it.";
    throw new WireError("disk_full", message);
  }

  /** Takes over a received file. Throws as `assertHasRoom`. */
  async add({ path: from, name, bytes }: ReceivedFile, owner: string): Promise<FileObject> {
    this.assertHasRoom(owner);
    const file: FileObject = {
      id: newFileId(),
      object: "file",
      bytes,
      created_at: toUnixSeconds(this.#options.now()),
      filename: name.slice(0, fileNameLengthMax),
      purpose: "batch",
      status: "processed",
    };
    await rename(from, this.pathOf(file.id));
    this.#options.store.addFile(file, owner);
    return file;
  }

  /** The file that a batch has written; undefined, and removed, if it is empty. */
  async output(id: string, filename: string): Promise<FileObject | undefined> {
    const { size: bytes } = await stat(this.pathOf(id));
    if (bytes === 0) {
      await rm(this.pathOf(id));
      return undefined;
    }
    const created_at = toUnixSeconds(this.#options.now());
    return {
      id,
      object: "file",
      bytes,
      created_at,
      filename,
      purpose: "batch_output",
      status: "processed",
    };
  }

  /** Throws `not_found`. */
  find(id: string, owner: string): FileObject {
    const file = this.#options.store.file(id, owner);
    if (file === undefined) throw noSuchFile(id);
    return file;
  }

  list(owner: string, query: PageQuery): ListPage<FileObject> {
    return this.#options.store.files(owner, query);
  }

  /** Throws `not_found`, and `invalid_request` while a batch needs the file. */
  async delete(id: string, owner: string): Promise<void> {
    this.find(id, owner);
    const batch = this.#options.store.openBatchOf(id);
    if (batch !== undefined) {
      const message = `The batch ${batch} reads this file. Cancel it, or wait until it has ended.`;
      throw new WireError("invalid_request", message);
    }
    this.#options.store.deleteFile(id);
    await rm(this.pathOf(id), { force: true });
  }
}

export function newFileId(): string {
  return `file-${randomUUID().replaceAll("-", "")}`;
}

function noSuchFile(id: string): WireError {
  return new WireError(
    "not_found",
    `No file has the id ${JSON.stringify(id)}: it was never stored, or was deleted.`,
  );
}
