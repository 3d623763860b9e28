// A file that is written in several places at once and over several attempts, with a log of the written ranges:
//
//   <file>.part        has its final length, with holes
//   <file>.part.log    the final size and checksum, then a line "start end" for every written range
//
// A line is added after its bytes are written, so after a kill the log is correct and at most a little behind. The final
// checksum detects damage by a power failure.
import { createHash } from "node:crypto";
import { open, readFile, rm, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { diskFailure } from "../disk-space.ts";
import { fileBytes } from "../durable-files.ts";

/** The expected contents. */
export interface RangedContent {
  sizeBytes: number;
  /** Hex digest. */
  sha256: string;
}

export interface Range {
  start: number;
  /** The first byte after the range. */
  end: number;
}

/** Written bytes between two lines of the log: the most that a kill loses per connection. */
const logEveryBytes = 64 * 1024;
/** Reads are large because the file is hundreds of MiB and read from end to end. */
const readBytes = 1024 * 1024;
/** A longer log would belong to a file of more than a TiB. */
const logBytesMax = 256 * 1024 * 1024;

/** Invariant: `#done` is sorted, its ranges neither touch nor overlap, and each is within the file. */
export class RangedFile implements AsyncDisposable {
  readonly path: string;
  readonly content: RangedContent;
  readonly #file: FileHandle;
  readonly #log: FileHandle;
  #done: Range[];

  private constructor(
    filePath: string,
    content: RangedContent,
    handles: { file: FileHandle; log: FileHandle },
    done: Range[],
  ) {
    this.path = filePath;
    this.content = content;
    this.#file = handles.file;
    this.#log = handles.log;
    this.#done = done;
  }

  /** Opens what an earlier attempt wrote of these contents, or starts a new file. Throws `disk_full` or `download_failed`. */
  static async open(filePath: string, content: RangedContent): Promise<RangedFile> {
    const logPath = rangeLogPath(filePath);
    try {
      const done = await readLog(filePath, logPath, content);
      const file = await open(filePath, done.length > 0 ? "r+" : "w+");
      try {
        const log = await open(logPath, done.length > 0 ? "a" : "w");
        const ranged = new RangedFile(filePath, content, { file, log }, done);
        if (done.length === 0) await ranged.restart();
        // The next line must not be appended to an incomplete one.
        else await log.appendFile("\n");
        return ranged;
      } catch (error) {
        await file.close();
        throw error;
      }
    } catch (error) {
      throw diskFailure(error, path.dirname(filePath));
    }
  }

  /** The number of written bytes. */
  get bytes(): number {
    return totalLength(this.#done);
  }

  /** The missing ranges, in pieces of at most `pieceBytes`. */
  missing(pieceBytes: number): Range[] {
    const edges = [...this.#done, { start: this.content.sizeBytes, end: this.content.sizeBytes }];
    const pieces: Range[] = [];
    let at = 0;
    for (const { start, end } of edges) {
      for (; at < start; at += Math.min(pieceBytes, start - at))
        pieces.push({ start: at, end: Math.min(at + pieceBytes, start) });
      at = end;
    }
    return pieces;
  }

  /**
   * Writes the chunks from `start` on, and calls `onEnd` with the offset of the next byte. Throws what reading the chunks
   * throws, or `disk_full`; the chunks before are kept.
   */
  async write(start: number, chunks: AsyncIterable<Buffer>, onEnd: (end: number) => void): Promise<void> {
    const range = { start, end: start };
    try {
      for await (const chunk of chunks) {
        await this.#writeAt(chunk, range.end);
        range.end += chunk.length;
        this.#done = withRange(this.#done, range);
        onEnd(range.end);
        if (range.end - range.start >= logEveryBytes) await this.#logRange(range);
      }
    } finally {
      await this.#logRange(range);
    }
  }

  /** Discards everything that was written. */
  async restart(): Promise<void> {
    try {
      this.#done = [];
      await this.#log.truncate(0);
      await this.#log.appendFile(`${logHeader(this.content)}\n`);
      await this.#file.truncate(0);
      await this.#file.truncate(this.content.sizeBytes);
    } catch (error) {
      throw diskFailure(error, path.dirname(this.path));
    }
  }

  /** Reads the whole file and returns whether its size and checksum are right. Throws the signal's reason. */
  async isRight(onVerify: (bytes: number) => void, signal: AbortSignal): Promise<boolean> {
    const hash = createHash("sha256");
    const reading = { start: 0, autoClose: false, highWaterMark: readBytes };
    const chunks: AsyncIterable<Buffer> = this.#file.createReadStream(reading);
    let bytes = 0;
    for await (const chunk of chunks) {
      signal.throwIfAborted();
      hash.update(chunk);
      bytes += chunk.length;
      onVerify(bytes);
    }
    return bytes === this.content.sizeBytes && hash.digest("hex") === this.content.sha256;
  }

  /** Resolves when the bytes are on the disk. */
  async sync(): Promise<void> {
    await this.#file.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#log.close();
    await this.#file.close();
  }

  async #writeAt(chunk: Buffer, position: number): Promise<void> {
    try {
      let written = 0;
      while (written < chunk.length) {
        const { bytesWritten } = await this.#file.write(
          chunk,
          written,
          chunk.length - written,
          position + written,
        );
        written += bytesWritten;
      }
    } catch (error) {
      throw diskFailure(error, path.dirname(this.path));
    }
  }

  /** Writes the range to the log, and moves its start to its end. */
  async #logRange(range: Range): Promise<void> {
    if (range.start === range.end) return;
    try {
      await this.#log.appendFile(`${range.start} ${range.end}\n`);
    } catch (error) {
      throw diskFailure(error, path.dirname(this.path));
    }
    range.start = range.end;
  }
}

/** Removes the file and its log. */
export async function removeRangedFile(filePath: string): Promise<void> {
  await rm(filePath, { force: true });
  await rm(rangeLogPath(filePath), { force: true });
}

/** The bytes that an earlier attempt or another process has written; 0 if there is no such file. */
export async function bytesInLog(filePath: string, content: RangedContent): Promise<number> {
  return totalLength(await readLog(filePath, rangeLogPath(filePath), content));
}

function totalLength(ranges: readonly Range[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

export function rangeLogPath(filePath: string): string {
  return `${filePath}.log`;
}

function logHeader({ sizeBytes, sha256 }: RangedContent): string {
  return `ingle-part 1 ${sizeBytes} ${sha256}`;
}

/** The ranges in the log; none if it is missing, not a log, or of other contents. */
async function readLog(filePath: string, logPath: string, content: RangedContent): Promise<Range[]> {
  const [bytes, logBytes] = await Promise.all([fileBytes(filePath), fileBytes(logPath)]);
  if (bytes !== content.sizeBytes || logBytes === undefined || logBytes > logBytesMax) return [];
  const [header, ...lines] = (await readFile(logPath, "latin1")).split("\n");
  if (header !== logHeader(content)) return [];
  let done: Range[] = [];
  for (const line of lines.slice(0, -1)) {
    const match = /^(\d{1,15}) (\d{1,15})$/.exec(line);
    const range = { start: Number(match?.[1]), end: Number(match?.[2]) };
    // An incomplete line is ignored; its bytes are downloaded again.
    if (match !== null && range.start < range.end && range.end <= content.sizeBytes)
      done = withRange(done, range);
  }
  return done;
}

/** Adds a range, merged with those that it touches. Most ranges continue one of the few others. */
function withRange(ranges: readonly Range[], { start, end }: Range): Range[] {
  const before = ranges.filter((range) => range.end < start);
  const after = ranges.filter((range) => range.start > end);
  const joined = ranges.filter((range) => range.end >= start && range.start <= end);
  const whole = {
    start: Math.min(start, ...joined.map((range) => range.start)),
    end: Math.max(end, ...joined.map((range) => range.end)),
  };
  return [...before, whole, ...after];
}
