// Downloads one file of the hub over several connections and checks it, however often connections break or the process dies.
import { EngineError } from "../../base/errors.ts";
import { retry, TemporaryFailure, type Wait } from "../retry.ts";
import { RangedFile, removeRangedFile, type Range, type RangedContent } from "./ranged-file.ts";
import type { RemoteFile } from "./remote-file.ts";

export interface FileDownload {
  remote: RemoteFile;
  /** For messages: `org/repo/file`. */
  name: string;
  content: RangedContent;
  /** The path of the file, unfinished and finished. */
  path: string;
  /** Called with the number of downloaded bytes, including those of earlier attempts. */
  onDownload: (bytes: number) => void;
  /** Called with the number of bytes that were read again for the checksum. */
  onVerify: (bytes: number) => void;
  wait?: Wait | undefined;
  signal: AbortSignal;
  /** Ranges that are downloaded in parallel. Default 4. */
  connections?: number | undefined;
  /** Maximum number of bytes per range. Default 16 MiB. */
  pieceBytes?: number | undefined;
}

/** One connection to a distant host is often slower than the network; too many take it from all other programs. */
const connectionsDefault = 4;
/** Large enough that requests cost little, small enough that all connections stay busy to the end. */
const pieceBytesDefault = 16 * 1024 * 1024;
/** Failures without a new byte: about 30 seconds of a broken connection. */
const failuresMax = 7;

/**
 * Downloads the file to `path`. If its bytes are wrong, throws `integrity_failed` and keeps nothing; on `download_failed`,
 * `disk_full` or an abort, the downloaded part stays for the next call.
 */
export async function downloadFile(download: FileDownload): Promise<void> {
  if (await fetchFile(download)) return;
  await removeRangedFile(download.path);
  const message = `${download.name} does not match the checksum that the hub announced. It was deleted; start again.`;
  throw new EngineError("integrity_failed", message, { details: { expected: download.content.sha256 } });
}

async function fetchFile(download: FileDownload): Promise<boolean> {
  await using file = await RangedFile.open(download.path, download.content);
  const isResumed = file.bytes > 0;
  await fetchMissing(file, download);
  let isRight = await file.isRight(download.onVerify, download.signal);
  if (!isRight && isResumed) {
    // The old part may be the only wrong one: try once more from the start.
    await file.restart();
    await fetchMissing(file, download);
    isRight = await file.isRight(download.onVerify, download.signal);
  }
  if (isRight) await file.sync();
  return isRight;
}

/** Thrown if a server sends the whole file instead of a range: then one connection must download it all. */
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
      // The first failure aborts the others, whose errors are only a consequence.
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

/** For servers without ranges: downloads from the first byte to the last, and from the first again after a break. */
async function fetchWhole(file: RangedFile, download: FileDownload): Promise<void> {
  const { remote, content, signal, wait, onDownload } = download;
  // The furthest byte so far: every attempt starts over, so only getting further counts as progress.
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

/** Limits the chunks to the requested bytes: more would overwrite other ranges. Reading to the end keeps the connection. */
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
  const message = `${name} has ${totalBytes} bytes, but the hub announced ${content.sizeBytes}. Nothing was kept; start again.`;
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
