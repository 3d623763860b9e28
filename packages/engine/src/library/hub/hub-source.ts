// Brings a model of the hub to disk: lock, space, files, manifest. Used by fetch-model.ts.
//
//   downloads/<org>+<repo>+<checksum>.part, .part.log    grow, survive breaks, are checked against the hub's sha256
//   models/<org>/<repo>/…/<file>.gguf                    the same files under their names, once each is whole
import { mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../../errors.ts";
import { checkDiskSpace, diskFailure, spareBytes } from "../disk-space.ts";
import { fileBytes } from "../file-size.ts";
import { lockFile } from "../library-lock.ts";
import type { LibraryOptions } from "../library-options.ts";
import type { HubModel } from "../locate.ts";
import { readManifest, updateManifest, withModel, type ManifestFile } from "../manifest.ts";
import { libraryPaths, makeFolders, type LibraryPaths } from "../paths.ts";
import { throttleProgress, type OnProgress } from "../progress.ts";
import { retry } from "../retry.ts";
import { syncFolder } from "../sync-folder.ts";
import { downloadFile, type FileDownload } from "./download.ts";
import type { HubFile } from "./hub-api.ts";
import { hubSettings } from "./hub-settings.ts";
import { HubHttp } from "./http.ts";
import { bytesInLog, logPathOf, type RangedContent } from "./ranged-file.ts";
import { RemoteFile } from "./remote-file.ts";

export interface HubSourceOptions extends LibraryOptions, Pick<FileDownload, "connections" | "pieceBytes"> {
  onProgress?: OnProgress | undefined;
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

/** Failures before giving up on a small answer: 3.5 seconds, so that a person without network soon knows it. */
const resolveFailuresMax = 4;

/**
 * Leaves the model in the models folder and the manifest, and returns the path of its first file. One process works on a
 * repository, others wait for it. Throws `download_failed`, `model_not_found`, `integrity_failed`, `disk_full`, `library_locked`,
 * `library_invalid`, `invalid_request` or the signal's reason; what is already downloaded and not wrong stays for the next
 * call.
 */
export async function downloadFromHub(
  id: string,
  found: HubModel,
  options: HubSourceOptions = {},
): Promise<string> {
  const folders = libraryPaths(options.env);
  const { repo } = found.repository;
  const onProgress = throttleProgress(options.onProgress);
  const files = filesOf(found);
  await makeFolders(folders);
  // Not one for each model: those of a repository share their projector.
  await using lock = await lockFile(path.join(folders.downloadsDir, `${flatName(repo)}.lock`), {
    onWait: () => reportOther(files, repo, folders, onProgress),
    wait: options.wait,
    signal: options.signal,
  });
  const signal = options.signal === undefined ? lock.signal : AbortSignal.any([lock.signal, options.signal]);
  const missing = await filesToFetch(files, found, folders);
  if (missing.length > 0) {
    using http = new HubHttp(hubSettings(options.env ?? process.env));
    const arrivals: Arrival[] = [];
    for (const file of missing)
      arrivals.push(await prepare(file, found, { http, folders, ...options, signal }));
    await checkSpace(arrivals, folders, options);
    await downloadAll(arrivals, { ...options, onProgress, signal });
  }
  await updateManifest(folders, (manifest) => withModel(manifest, entryOf(id, found)), { signal });
  return targetOf(found.group.files[0], found, folders);
}

/** All that belongs to the model, the projector last. */
function filesOf({ group }: HubModel): HubFile[] {
  return [...group.files, ...(group.mmproj === undefined ? [] : [group.mmproj])];
}

function targetOf(file: HubFile | undefined, { repository }: HubModel, { modelsDir }: LibraryPaths): string {
  return path.join(modelsDir, relativePath(repository.repo, file?.path ?? ""));
}

/** With slashes on every system, as the manifest has it. The parts were checked where they came in (hub-api.ts). */
function relativePath(repo: string, file: string): string {
  return `${repo}/${file}`;
}

/** Those that are not there, or that are there with the bytes of an earlier commit. */
async function filesToFetch(
  files: readonly HubFile[],
  found: HubModel,
  folders: LibraryPaths,
): Promise<HubFile[]> {
  const { models } = await readManifest(folders);
  const known = new Map(
    models.flatMap((model) => [...model.files, model.mmproj]).map((file) => [file?.path, file?.sha256]),
  );
  const missing: HubFile[] = [];
  for (const file of files) {
    // A name appears only after a full check, so the size is enough where the checksum was not written down.
    const isThere = (await fileBytes(targetOf(file, found, folders))) === file.sizeBytes;
    const knownSha256 = known.get(relativePath(found.repository.repo, file.path)) ?? file.sha256;
    if (!isThere || knownSha256 !== file.sha256) missing.push(file);
  }
  return missing;
}

/** Asks the hub where the file lies and what its checksum is. */
async function prepare(
  file: HubFile,
  found: HubModel,
  context: { http: HubHttp; folders: LibraryPaths; wait?: LibraryOptions["wait"]; signal: AbortSignal },
): Promise<Arrival> {
  const { http, folders, wait, signal } = context;
  const { repo, commit } = found.repository;
  const remote = new RemoteFile(http, { repo, commit, path: file.path });
  const asking = { failuresMax: resolveFailuresMax, wait, signal };
  const { sha256 } = await retry(async () => await remote.address(signal), asking);
  const expected = sha256 ?? file.sha256;
  if (expected === undefined || (file.sha256 ?? expected) !== expected) throw noChecksum(repo, file);
  const content = { sizeBytes: file.sizeBytes, sha256: expected };
  return {
    file,
    remote,
    content,
    partPath: partPathOf(repo, expected, folders),
    path: targetOf(file, found, folders),
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

function entryOf(id: string, { repository, group }: HubModel) {
  const toEntry = (file: HubFile): ManifestFile => ({
    path: relativePath(repository.repo, file.path),
    sizeBytes: file.sizeBytes,
    ...(file.sha256 === undefined ? {} : { sha256: file.sha256 }),
  });
  return {
    id,
    quantization: group.quantization ?? null,
    files: group.files.map(toEntry),
    mmproj: group.mmproj === undefined ? null : toEntry(group.mmproj),
    source: { kind: "hub" as const, repo: repository.repo, commit: repository.commit },
    addedAt: new Date().toISOString(),
  };
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
function flatName(repo: string): string {
  return repo.replace("/", "+");
}

function noChecksum(repo: string, file: HubFile): EngineError {
  const message = `The hub gives no checksum for ${file.path} of ${repo}, or two that differ. Is HF_ENDPOINT a faithful mirror?`;
  return new EngineError("integrity_failed", message, { details: { repo, file: file.path } });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
