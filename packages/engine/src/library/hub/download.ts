// Brings one file of the hub to disk, whole and checked, over several connections at once, however often they break or the
// process dies on the way. Used by hub-source.ts, once per file.
import { EngineError } from "../../errors.ts";
import { retry, TemporaryFailure, type Wait } from "../retry.ts";
import { RangedFile, removeRangedFile, type Range, type RangedContent } from "./ranged-file.ts";
import type { RemoteFile } from "./remote-file.ts";

export interface FileDownload {
  remote: RemoteFile;
  /** For sentences: `org/repo/file`. */
  name: string;
  content: RangedContent;
  /** Where the file grows and, when whole, stays. */
  path: string;
  /** Told how many bytes are there, also of earlier starts. */
  onDownload: (bytes: number) => void;
  /** Told how many bytes have been read again to check the whole. */
  onVerify: (bytes: number) => void;
  wait?: Wait | undefined;
  signal: AbortSignal;
  /** Ranges that are fetched at the same time. Default 4. */
  connections?: number | undefined;
  /** Most bytes of one range. Default 16 MiB. */
  pieceBytes?: number | undefined;
}

/** One connection to a distant host is often slower than the line; more than a few take it from everybody else. */
const connectionsDefault = 4;
/** Long enough that asking does not count, short enough that all connections are busy to the end. */
const pieceBytesDefault = 16 * 1024 * 1024;
/** Failures without a single new byte in a running download: 30 seconds of a broken connection. */
const failuresMax = 7;

/**
 * Leaves the whole file at `path`. Throws `integrity_failed` and keeps nothing when its bytes are wrong; keeps what is
 * there for the next start on `download_failed`, `disk_full` or an abort.
 */
export async function downloadFile(download: FileDownload): Promise<void> {
  if (await bringFile(download)) return;
  await removeRangedFile(download.path);
  const message = `${download.name} came with other bytes than the hub announces. It was not kept; start again.`;
  throw new EngineError("integrity_failed", message, { details: { expected: download.content.sha256 } });
}

async function bringFile(download: FileDownload): Promise<boolean> {
  await using file = await RangedFile.open(download.path, download.content);
  const isResumed = file.bytes > 0;
  await fetchMissing(file, download);
  let isRight = await file.isRight(download.onVerify, download.signal);
  if (!isRight && isResumed) {
    // What lay there before may be all that is wrong: once more, from nothing.
    await file.restart();
    await fetchMissing(file, download);
    isRight = await file.isRight(download.onVerify, download.signal);
  }
  if (isRight) await file.sync();
  return isRight;
}

/** Thrown where a server sends the whole file instead of the range: then one connection has to bring it all. */
class NoRanges extends Error {}

async function fetchMissing(file: RangedFile, download: FileDownload): Promise<void> {
  const { connections = connectionsDefault, pieceBytes = pieceBytesDefault, signal } = download;
  const pieces = file.missing(pieceBytes);
  const failure = new AbortController();
  const together = AbortSignal.any([signal, failure.signal]);
  const work = async (): Promise<void> => {
    try {
      for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift())
        await fetchPiece(file, piece, { ...download, signal: together });
    } catch (error) {
      // The first failure ends the others; what they threw is only its echo.
      failure.abort(error);
    }
  };
  await Promise.all(Array.from({ length: Math.min(connections, pieces.length) }, work));
  signal.throwIfAborted();
  if (!failure.signal.aborted) return;
  if (!(failure.signal.reason instanceof NoRanges)) throw failure.signal.reason;
  await fetchWhole(file, download);
}

async function fetchPiece(file: RangedFile, piece: Range, download: FileDownload): Promise<void> {
  const { remote, signal, wait, onDownload } = download;
  let at = piece.start;
  const receive = async (): Promise<void> => {
    using stream = await remote.open({ start: at, end: piece.end, signal });
    checkSize(stream.totalBytes, download);
    if (stream.offset !== at) throw new NoRanges();
    await file.write(at, atMost(stream.body, piece.end - at), (end) => {
      at = end;
      onDownload(file.bytes);
    });
    if (at < piece.end) throw endedEarly(file, download);
  };
  await retry(receive, { failuresMax, progress: () => file.bytes, wait, signal });
}

/** From the first byte to the last, and from the first again after a break: all that a server without ranges allows. */
async function fetchWhole(file: RangedFile, download: FileDownload): Promise<void> {
  const { remote, content, signal, wait, onDownload } = download;
  // The most bytes we ever had: a server that always starts again must get further to count as progress.
  let furthest = 0;
  const receive = async (): Promise<void> => {
    await file.restart();
    using stream = await remote.open({ start: 0, end: content.sizeBytes, signal });
    checkSize(stream.totalBytes, download);
    await file.write(0, atMost(stream.body, content.sizeBytes), (end) => {
      furthest = Math.max(furthest, end);
      onDownload(end);
    });
    if (file.bytes < content.sizeBytes) throw endedEarly(file, download);
  };
  await retry(receive, { failuresMax, progress: () => furthest, wait, signal });
}

/** What was asked for: more would be written over what others bring. An answer that is read to its end keeps its connection. */
async function* atMost(chunks: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let left = bytesMax;
  for await (const chunk of chunks) {
    if (left <= 0) return;
    yield chunk.subarray(0, left);
    left -= chunk.length;
  }
}

function checkSize(totalBytes: number | undefined, { name, content }: FileDownload): void {
  if (totalBytes === undefined || totalBytes === content.sizeBytes) return;
  const message = `${name} has ${totalBytes} bytes where the hub announces ${content.sizeBytes}. Nothing was kept of it; start again.`;
  throw new EngineError("integrity_failed", message, {
    details: { bytes: totalBytes, expectedBytes: content.sizeBytes },
  });
}

function endedEarly(file: RangedFile, { name, content }: FileDownload): TemporaryFailure {
  const message = `The download of ${name} ended after ${file.bytes} of ${content.sizeBytes} bytes. Start again to continue.`;
  return new TemporaryFailure(
    new EngineError("download_failed", message, { details: { bytes: file.bytes } }),
  );
}
