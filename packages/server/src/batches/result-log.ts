// A file of results that only grows: a line for each request. A result is on the disk before it counts, so that a process that is killed
// loses only what it was computing, and the next one does only what is not in the file.
import { createReadStream } from "node:fs";
import { mkdir, open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { isDiskFull } from "@ingle/engine";
import { BatchResult } from "@ingle/protocol";
import { parseJson } from "@ingle/protocol/json-shape";
import { WireError } from "../wire-error.ts";

const lineFeed = 0x0a;

interface Waiting {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class ResultLog implements AsyncDisposable {
  readonly file: string;
  readonly #handle: FileHandle;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;

  private constructor(file: string, handle: FileHandle) {
    this.file = file;
    this.#handle = handle;
  }

  /**
   * Opens or creates the file, and calls `onResult` for each result in it. A last line that is not whole is removed. Throws an error for
   * a file with other lines, which is left as it is, and those of the file system.
   */
  static async open(file: string, onResult: (result: BatchResult) => void): Promise<ResultLog> {
    await mkdir(path.dirname(path.resolve(file)), { recursive: true, mode: 0o700 });
    const handle = await open(file, "a", 0o600);
    try {
      const end = await readResults(file, onResult);
      await handle.truncate(end);
      return new ResultLog(file, handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Resolves when the result is on the disk. After a failure, all further calls reject: a part of a line may be in the file. */
  async append(result: BatchResult): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const text = `${JSON.stringify(result)}\n`;
    const written = new Promise<void>((resolve, reject) => this.#waiting.push({ text, resolve, reject }));
    this.#writing ??= this.#write();
    await written;
  }

  /** What waits is written first. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#handle.close();
  }

  /** Results that come while others are written are written together, with one flush of the disk. Never rejects. */
  async #write(): Promise<void> {
    for (let group = this.#take(); group.length > 0; group = this.#take()) {
      try {
        if (this.#failure !== undefined) throw this.#failure;
        await this.#handle.appendFile(group.map(({ text }) => text).join(""));
        await this.#handle.datasync();
        for (const { resolve } of group) resolve();
      } catch (error) {
        this.#failure = toFailure(error, this.file);
        for (const { reject } of group) reject(this.#failure);
      }
    }
    this.#writing = undefined;
  }

  #take(): Waiting[] {
    return this.#waiting.splice(0);
  }
}

function toFailure(cause: unknown, file: string): Error {
  const error = cause instanceof Error ? cause : new Error(`${file} cannot be written.`, { cause });
  if (!isDiskFull(error)) return error;
  return new WireError("disk_full", `The disk under ${path.dirname(file)} is full. Free some space.`, {
    cause: error,
  });
}

/** Returns the length of all whole lines. */
async function readResults(file: string, onResult: (result: BatchResult) => void): Promise<number> {
  let end = 0;
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(file)) {
    const bytes = Buffer.from(chunk);
    let from = 0;
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, from)) {
      const line = Buffer.concat([...rest, bytes.subarray(from, at)]);
      [rest, from] = [[], at + 1];
      end += line.length + 1;
      onResult(toResult(line, file));
    }
    rest.push(bytes.subarray(from));
  }
  assertUnfinished(Buffer.concat(rest), file);
  return end;
}

/** How every line begins. */
const lineStart = '{"id":"batch_req_';

/** A last line without an end is removed, so it must be one of ours. */
function assertUnfinished(line: Buffer, file: string): void {
  const start = line.subarray(0, lineStart.length).toString("utf8");
  if (!lineStart.startsWith(start)) throw foreignLines(file);
}

function toResult(line: Buffer, file: string): BatchResult {
  const result = BatchResult.safeParse(parseJson(line.toString("utf8")));
  if (result.success) return result.data;
  throw foreignLines(file);
}

function foreignLines(file: string): WireError {
  return new WireError("invalid_request", `${file} has lines that are no results of a batch.`);
}
