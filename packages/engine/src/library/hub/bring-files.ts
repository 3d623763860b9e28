// Brings files of one repository of the hub to disk: lock, space, checksums. Used by hub-source.ts and mlx-source.ts.
//
//   downloads/<org>+<repo>+<checksum>.part, .part.log    grow, survive breaks, are checked against the hub's sha256
//   where `placeOf` says                                 the same files, once each is whole
import { mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../../errors.ts";
import { checkDiskSpace, diskFailure, spareBytes } from "../disk-space.ts";
import { lockFile } from "../library-lock.ts";
import type { LibraryOptions } from "../library-options.ts";
import { libraryPaths, makeFolders, type LibraryPaths } from "../paths.ts";
import { throttleProgress, type OnProgress } from "../progress.ts";
import { retry, smallFailuresMax } from "../retry.ts";
import { syncFolder } from "../sync-folder.ts";
import { downloadFile, type FileDownload } from "./download.ts";
import type { HubFile, HubRepository } from "./hub-api.ts";
import { hubSettings } from "./hub-settings.ts";
import { HubHttp } from "./http.ts";
import { bytesInLog, logPathOf, type RangedContent } from "./ranged-file.ts";
import { RemoteFile } from "./remote-file.ts";

export interface HubSourceOptions extends LibraryOptions, Pick<FileDownload, "connections" | "pieceBytes"> {
  onProgress?: OnProgress | undefined;
}

/** Files that are wanted, and where they will lie. */
export interface WantedFiles {
  repository: HubRepository;
  files: readonly HubFile[];
  placeOf: (file: HubFile) => string;
  /** Which of them are not there. Asked when nobody else works on the repository. */
  missing: (files: readonly HubFile[]) => Promise<HubFile[]>;
}

/** One file on its way. */
interface Arrival {
  file: HubFile;
  remote: RemoteFile;
  content: RangedContent;
  /** Where it grows. */
  partPath: string;
  /** Where it will lie. */
  path: string;
}

/**
 * Leaves each file at its place, then does `finish`, still as the only process that works on the repository. Throws
 * `download_failed`, `model_not_found`, `integrity_failed`, `disk_full`, `library_locked`, `library_invalid`, `invalid_request`
 * or the signal's reason; what is already downloaded and not wrong stays for the next call.
 */
export async function bringFiles(
  wanted: WantedFiles,
  options: HubSourceOptions,
  finish: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const folders = libraryPaths(options.env);
  const { repo } = wanted.repository;
  const onProgress = throttleProgress(options.onProgress);
  await makeFolders(folders);
  // Not one for each model: those of a repository share their projector.
  await using lock = await lockFile(path.join(folders.downloadsDir, `${flatName(repo)}.lock`), {
    onWait: () => reportOther(wanted.files, repo, folders, onProgress),
    wait: options.wait,
    signal: options.signal,
  });
  const signal = options.signal === undefined ? lock.signal : AbortSignal.any([lock.signal, options.signal]);
  const missing = await wanted.missing(wanted.files);
  if (missing.length > 0) {
    using http = new HubHttp(hubSettings(options.env ?? process.env));
    const arrivals: Arrival[] = [];
    for (const file of missing)
      arrivals.push(await prepare(file, wanted, { http, folders, ...options, signal }));
    await checkSpace(arrivals, folders, options);
    await downloadAll(arrivals, { ...options, onProgress, signal });
  }
  await finish(signal);
}

/** Asks the hub where the file lies and what its checksum is. */
async function prepare(
  file: HubFile,
  wanted: WantedFiles,
  context: { http: HubHttp; folders: LibraryPaths; wait?: LibraryOptions["wait"]; signal: AbortSignal },
): Promise<Arrival> {
  const { http, folders, wait, signal } = context;
  const { repo, commit } = wanted.repository;
  const remote = new RemoteFile(http, { repo, commit, path: file.path });
  const asking = { failuresMax: smallFailuresMax, wait, signal };
  const { sha256 } = await retry(async () => await remote.address(signal), asking);
  const expected = sha256 ?? file.sha256;
  if (expected === undefined || (file.sha256 ?? expected) !== expected) throw noChecksum(repo, file);
  const content = { sizeBytes: file.sizeBytes, sha256: expected };
  return {
    file,
    remote,
    content,
    partPath: partPathOf(repo, expected, folders),
    path: wanted.placeOf(file),
  };
}

async function downloadAll(
  arrivals: readonly Arrival[],
  options: HubSourceOptions & { onProgress: OnProgress; signal: AbortSignal },
): Promise<void> {
  const { onProgress, wait, connections, pieceBytes, signal } = options;
  const totalBytes = sum(arrivals.map(({ file }) => file.sizeBytes));
  let doneBytes = 0;
  for (const { file, remote, content, partPath, path: target } of arrivals) {
    const before = doneBytes;
    await downloadFile({
      remote,
      name: file.path,
      content,
      path: partPath,
      onDownload: (bytes) => onProgress({ phase: "download", bytes: before + bytes, totalBytes }),
      onVerify: (bytes) => onProgress({ phase: "verify", bytes, totalBytes: file.sizeBytes }),
      wait,
      signal,
      connections,
      pieceBytes,
    });
    await putInPlace(partPath, target);
    doneBytes += file.sizeBytes;
  }
}

async function putInPlace(partPath: string, target: string): Promise<void> {
  const folder = path.dirname(target);
  try {
    await mkdir(folder, { recursive: true });
    await rename(partPath, target);
  } catch (error) {
    throw diskFailure(error, folder);
  }
  await rm(logPathOf(partPath), { force: true });
  await syncFolder(folder);
}

async function checkSpace(
  arrivals: readonly Arrival[],
  { home }: LibraryPaths,
  { freeBytes }: HubSourceOptions,
): Promise<void> {
  const there = await Promise.all(arrivals.map(({ partPath, content }) => bytesInLog(partPath, content)));
  const total = sum(arrivals.map(({ content }) => content.sizeBytes));
  await checkDiskSpace(home, total - sum(there) + spareBytes, freeBytes);
}

/** What the other process has so far, as seen from outside. */
async function reportOther(
  files: readonly HubFile[],
  repo: string,
  folders: LibraryPaths,
  onProgress: OnProgress,
): Promise<void> {
  const there = files.map(async ({ sha256 = "", sizeBytes }) =>
    bytesInLog(partPathOf(repo, sha256, folders), { sizeBytes, sha256 }),
  );
  const totalBytes = sum(files.map(({ sizeBytes }) => sizeBytes));
  onProgress({ phase: "waiting", bytes: sum(await Promise.all(there)), totalBytes });
}

/** Named by its contents, so that another commit's never mix in; enough of the checksum to tell them apart. */
function partPathOf(repo: string, sha256: string, { downloadsDir }: LibraryPaths): string {
  return path.join(downloadsDir, `${flatName(repo)}+${sha256.slice(0, 16)}.part`);
}

/** A repository's slash is no folder of ours. */
export function flatName(repo: string): string {
  return repo.replace("/", "+");
}

function noChecksum(repo: string, file: HubFile): EngineError {
  const message = `The hub gives no checksum for ${file.path} of ${repo}, or two that differ. Is HF_ENDPOINT a faithful mirror?`;
  return new EngineError("integrity_failed", message, { details: { repo, file: file.path } });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
