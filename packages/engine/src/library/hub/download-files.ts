// Downloads files of one repository of the hub: lock, disk space, checksums.
//
//   downloads/<org>+<repo>+<checksum>.part, .part.log    grow, survive breaks, are checked against the hub's sha256
//   the path of `targetPath`                             the same file, once it is complete
import { mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../../base/errors.ts";
import { checkDiskSpace, diskFailure, spareBytes } from "../disk-space.ts";
import { lockFile } from "../library-lock.ts";
import type { FetchOptions, LibraryOptions } from "../library-options.ts";
import { makeFolders, syncFolder } from "../durable-files.ts";
import { throttleProgress, type OnProgress } from "../progress.ts";
import { retry, smallFailuresMax } from "../retry.ts";
import { downloadFile, type FileDownload } from "./download-file.ts";
import type { HubFile, HubRepository } from "./hub-api.ts";
import { hubSettings } from "./hub-settings.ts";
import { HubHttp } from "./http.ts";
import { bytesInLog, rangeLogPath, type RangedContent } from "./ranged-file.ts";
import { RemoteFile } from "./remote-file.ts";
import { libraryPaths, type LibraryPaths } from "../../base/home.ts";

export interface HubSourceOptions extends FetchOptions, Pick<FileDownload, "connections" | "pieceBytes"> {}

/** Files to download, and their paths. */
interface RepositoryFiles {
  repository: HubRepository;
  files: readonly HubFile[];
  targetPath: (file: HubFile) => string;
  /** Those that are missing. Called while this process holds the repository's lock. */
  missing: (files: readonly HubFile[]) => Promise<HubFile[]>;
}

interface Download {
  file: HubFile;
  remote: RemoteFile;
  content: RangedContent;
  /** The unfinished file. */
  partPath: string;
  /** The finished file. */
  path: string;
}

/** Downloads the missing files, then calls `finish` while still holding the repository's lock. Throws as `fetchModel`. */
export async function downloadFiles(
  wanted: RepositoryFiles,
  options: HubSourceOptions,
  finish: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const folders = libraryPaths(options.env);
  const { repo } = wanted.repository;
  const onProgress = throttleProgress(options.onProgress);
  await makeFolders(folders);
  // One lock per repository, not per model, because the models of a repository share their projector.
  await using lock = await lockFile(path.join(folders.downloadsDir, `${flatName(repo)}.lock`), {
    onWait: () => reportOther(wanted.files, repo, folders, onProgress),
    wait: options.wait,
    signal: options.signal,
  });
  const { signal } = lock;
  const missing = await wanted.missing(wanted.files);
  if (missing.length > 0) {
    using http = new HubHttp(hubSettings(options.env ?? process.env));
    const downloads: Download[] = [];
    for (const file of missing)
      downloads.push(await prepare(file, wanted, { http, folders, ...options, signal }));
    await checkSpace(downloads, folders, options);
    await downloadAll(downloads, { ...options, onProgress, signal });
  }
  await finish(signal);
}

/** Asks the hub for the address and checksum of the file. */
async function prepare(
  file: HubFile,
  wanted: RepositoryFiles,
  context: { http: HubHttp; folders: LibraryPaths; wait?: LibraryOptions["wait"]; signal: AbortSignal },
): Promise<Download> {
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
    partPath: downloadPath(repo, expected, folders),
    path: wanted.targetPath(file),
  };
}

async function downloadAll(
  downloads: readonly Download[],
  options: HubSourceOptions & { onProgress: OnProgress; signal: AbortSignal },
): Promise<void> {
  const { onProgress, wait, connections, pieceBytes, signal } = options;
  const totalBytes = sum(downloads.map(({ file }) => file.sizeBytes));
  let doneBytes = 0;
  for (const { file, remote, content, partPath, path: target } of downloads) {
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
    await moveInto(partPath, target);
    doneBytes += file.sizeBytes;
  }
}

async function moveInto(partPath: string, target: string): Promise<void> {
  const folder = path.dirname(target);
  try {
    await mkdir(folder, { recursive: true });
    await rename(partPath, target);
  } catch (error) {
    throw diskFailure(error, folder);
  }
  await rm(rangeLogPath(partPath), { force: true });
  await syncFolder(folder);
}

async function checkSpace(
  downloads: readonly Download[],
  { home }: LibraryPaths,
  { freeBytes }: HubSourceOptions,
): Promise<void> {
  const there = await Promise.all(downloads.map(({ partPath, content }) => bytesInLog(partPath, content)));
  const total = sum(downloads.map(({ content }) => content.sizeBytes));
  await checkDiskSpace(home, total - sum(there) + spareBytes, freeBytes);
}

/** Reports the progress of another process, as its files show it. */
async function reportOther(
  files: readonly HubFile[],
  repo: string,
  folders: LibraryPaths,
  onProgress: OnProgress,
): Promise<void> {
  const there = files.map(async ({ sha256 = "", sizeBytes }) =>
    bytesInLog(downloadPath(repo, sha256, folders), { sizeBytes, sha256 }),
  );
  const totalBytes = sum(files.map(({ sizeBytes }) => sizeBytes));
  onProgress({ phase: "waiting", bytes: sum(await Promise.all(there)), totalBytes });
}

/** The name contains a part of the checksum, so that files of different commits never mix. */
function downloadPath(repo: string, sha256: string, { downloadsDir }: LibraryPaths): string {
  return path.join(downloadsDir, `${flatName(repo)}+${sha256.slice(0, 16)}.part`);
}

/** The repository's name without its slash, as one file name. */
export function flatName(repo: string): string {
  return repo.replace("/", "+");
}

function noChecksum(repo: string, file: HubFile): EngineError {
  const message = `The hub gives no checksum for ${file.path} of ${repo}, or two different ones. Is HF_ENDPOINT a faithful mirror?`;
  return new EngineError("integrity_failed", message, { details: { repo, file: file.path } });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
