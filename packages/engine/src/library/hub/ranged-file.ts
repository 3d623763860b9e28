// A file that grows in several places at once and over several starts. Beside it lies a log of the ranges that it holds:
//
//   <file>.part        as long as it will be, with holes
//   <file>.part.log    which bytes these are (size and checksum), then a line "start end" for every range that is written
//
// A line is added after its bytes are written, so a killed process leaves a log that is true and at most a little behind.
// What a power cut may do to the bytes shows in the checksum of the whole. Used by download.ts.
import { createHash } from "node:crypto";
import { open, readFile, rm, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { diskFailure } from "../disk-space.ts";
import { fileBytes } from "../file-size.ts";

/** Which bytes the file is to hold. */
export interface RangedContent {
  sizeBytes: number;
  /** Hex digest of the whole. */
  sha256: string;
}

export interface Range {
  start: number;
  /** The first byte behind the range. */
  end: number;
}

/** So many bytes a range may have grown before the log hears of it: what a killed process loses, once a connection. */
const logEveryBytes = 64 * 1024;
/** Large reads: the file is hundreds of MiB and is read from end to end. */
const readBytes = 1024 * 1024;
/** A log of this length would belong to a file of more than a TiB. */
const logBytesMax = 256 * 1024 * 1024;

/** Invariant: `#done` is sorted, its ranges neither touch nor overlap, and each lies in the file. */
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

  /** Opens what an earlier start left of these bytes, or begins anew. Throws `disk_full` or `download_failed`. */
  static async open(filePath: string, content: RangedContent): Promise<RangedFile> {
    const logPath = logPathOf(filePath);
    try {
      const done = await readLog(filePath, logPath, content);
      const file = await open(filePath, done.length > 0 ? "r+" : "w+");
      try {
        const log = await open(logPath, done.length > 0 ? "a" : "w");
        const ranged = new RangedFile(filePath, content, { file, log }, done);
        if (done.length === 0) await ranged.restart();
        // A torn last line must not swallow the next one.
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

  /** Bytes that are there. */
  get bytes(): number {
    return this.#done.reduce((sum, { start, end }) => sum + end - start, 0);
  }

  /** What is missing, in pieces of at most `pieceBytes`. */
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
   * Writes what comes from `start` on; `onEnd` is told where the next byte will lie. Throws what reading the chunks throws,
   * or `disk_full`, and has then kept what came before.
   */
  async write(start: number, chunks: AsyncIterable<Buffer>, onEnd: (end: number) => void): Promise<void> {
    const range = { start, end: start };
    try {
      for await (const chunk of chunks) {
        await this.#writeAt(chunk, range.end);
        range.end += chunk.length;
        this.#done = withRange(this.#done, range);
        onEnd(range.end);
        if (range.end - range.start >= logEveryBytes) await this.#noteRange(range);
      }
    } finally {
      await this.#noteRange(range);
    }
  }

  /** Forgets everything that was written. */
  async restart(): Promise<void> {
    try {
      this.#done = [];
      await this.#log.truncate(0);
      await this.#log.appendFile(`${headerOf(this.content)}\n`);
      await this.#file.truncate(0);
      await this.#file.truncate(this.content.sizeBytes);
    } catch (error) {
      throw diskFailure(error, path.dirname(this.path));
    }
  }

  /** Reads the whole file and says whether it is what it should be. Throws the signal's reason. */
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

  /** Returns when the bytes are on the disk. */
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

  /** Writes the range to the log and lets it begin anew where it ended. */
  async #noteRange(range: Range): Promise<void> {
    if (range.start === range.end) return;
    try {
      await this.#log.appendFile(`${range.start} ${range.end}\n`);
    } catch (error) {
      throw diskFailure(error, path.dirname(this.path));
    }
    range.start = range.end;
  }
}

/** Takes away what `RangedFile` leaves at this path. */
export async function removeRangedFile(filePath: string): Promise<void> {
  await rm(filePath, { force: true });
  await rm(logPathOf(filePath), { force: true });
}

/** How much of a file an earlier start, or another process, has brought; 0 when there is none. */
export async function bytesInLog(filePath: string, content: RangedContent): Promise<number> {
  const done = await readLog(filePath, logPathOf(filePath), content);
  return done.reduce((sum, { start, end }) => sum + end - start, 0);
}

export function logPathOf(filePath: string): string {
  return `${filePath}.log`;
}

function headerOf({ sizeBytes, sha256 }: RangedContent): string {
  return `ingle-part 1 ${sizeBytes} ${sha256}`;
}

/** The ranges that the log tells of, or none when it is not there, of other bytes, or not a log of ours. */
async function readLog(filePath: string, logPath: string, content: RangedContent): Promise<Range[]> {
  const [bytes, logBytes] = await Promise.all([fileBytes(filePath), fileBytes(logPath)]);
  if (bytes !== content.sizeBytes || logBytes === undefined || logBytes > logBytesMax) return [];
  const [header, ...lines] = (await readFile(logPath, "latin1")).split("\n");
  if (header !== headerOf(content)) return [];
  let done: Range[] = [];
  for (const line of lines.slice(0, -1)) {
    const match = /^(\d{1,15}) (\d{1,15})$/.exec(line);
    const range = { start: Number(match?.[1]), end: Number(match?.[2]) };
    // A line that was torn by a power cut tells nothing; the bytes are fetched again.
    if (match !== null && range.start < range.end && range.end <= content.sizeBytes)
      done = withRange(done, range);
  }
  return done;
}

/** The ranges with one more, joined where they touch. Most ranges go on where one of the few others ended. */
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
