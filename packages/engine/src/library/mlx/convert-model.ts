// Converts a folder in MLX's format to a GGUF file, once per contents, and records it in the manifest.
//
//   converted/<name>-<digest>.gguf    the result; the digest of its contents identifies a folder that was moved or copied
import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import {
  checkSettings,
  convertMlxFolder,
  digestFolder,
  readFolderContents,
  MlxError,
  type ConversionReport,
} from "@ingle/mlx";
import { errorCode, EngineError } from "../../base/errors.ts";
import { checkDiskSpace, diskFailure, spareBytes } from "../disk-space.ts";
import { fileBytes, makeFolders } from "../durable-files.ts";
import { absolutePath } from "../installed.ts";
import { lockFile } from "../library-lock.ts";
import type { FetchOptions } from "../library-options.ts";
import { readManifest, updateManifest, withModel, type ManifestModel } from "../manifest.ts";
import { peekFile } from "../model-facts.ts";
import { throttleProgress, type OnProgress } from "../progress.ts";
import { libraryPaths, type LibraryPaths } from "../../base/home.ts";

/** A folder to convert. */
interface MlxModel {
  id: string;
  folder: string;
  /** The manifest's `from`. */
  from: string;
  /** Whether the folder stays, so that its `look` shows the next time whether it changed. */
  isKept: boolean;
}

/** Most builds become slightly larger, and those of 2 and 3 bits twice as large, which may still fill the disk. */
const growth = 1.25;
/** Enough to distinguish conversions of one name. */
const digestLetters = 12;

/**
 * The path of the model's GGUF file. Throws `model_invalid` (the folder is damaged), `model_unsupported`, `disk_full`,
 * `download_failed` (not writable), `library_locked`, `library_invalid` or the signal's reason.
 */
export async function convertModel(model: MlxModel, options: FetchOptions = {}): Promise<string> {
  const folders = libraryPaths(options.env);
  const { look, sizeBytes } = await looking(model);
  const known = await convertedFrom(model, folders);
  if (known?.source.kind === "mlx" && known.source.look === look && isAsked(known.source, options))
    return modelPath(known, folders);
  const onProgress = throttleProgress(options.onProgress);
  await makeFolders(folders);
  await using lock = await lockFile(lockPath(model, folders), {
    onWait: () => onProgress({ phase: "waiting", bytes: 0, totalBytes: sizeBytes }),
    wait: options.wait,
    signal: options.signal,
  });
  const { signal } = lock;
  return await convertOnce(model, look, folders, { ...options, onProgress, signal });
}

async function convertOnce(
  model: MlxModel,
  look: string,
  folders: LibraryPaths,
  options: FetchOptions & { onProgress: OnProgress; signal: AbortSignal },
): Promise<string> {
  const { onProgress, signal } = options;
  // The previous holder of the lock may have converted the same download and deleted it.
  const done = model.isKept ? undefined : await convertedFrom(model, folders);
  if (done?.source.kind === "mlx" && isAsked(done.source, options)) return modelPath(done, folders);
  const { sizeBytes } = await looking(model);
  await checkModel(model);
  const verifying = (bytes: number): void => onProgress({ phase: "verify", bytes, totalBytes: sizeBytes });
  const digest = await reading(
    model,
    async () => await digestFolder(model.folder, { onProgress: verifying, signal }),
  );
  const same = await convertedBefore(
    ({ source: other }) => other.kind === "mlx" && other.digest === digest && isAsked(other, options),
    folders,
  );
  const exact = same?.source.kind === "mlx" ? same.source.exact : (options.exact ?? false);
  const kept = model.isKept ? look : null;
  const source = { kind: "mlx" as const, from: model.from, digest, look: kept, exact };
  const made = same ?? (await make(model, { look, sizeBytes, digest }, folders, options));
  const entry = { ...made, id: model.id, source };
  try {
    await updateManifest(folders, (manifest) => withModel(manifest, entry), { signal });
  } catch (error) {
    // Without an entry the file is useless.
    if (same === undefined) await rm(modelPath(entry, folders), { force: true });
    throw error;
  }
  return modelPath(entry, folders);
}

/** Throws `model_invalid` or `model_unsupported` if the settings show that the model cannot be converted; reads no weights. */
export async function checkModel(model: MlxModel): Promise<void> {
  await reading(model, async () => await checkSettings(model.folder));
}

async function make(
  model: MlxModel,
  { look, sizeBytes, digest }: { look: string; sizeBytes: number; digest: string },
  folders: LibraryPaths,
  options: FetchOptions & { onProgress: OnProgress },
): Promise<Omit<ManifestModel, "id" | "source">> {
  await checkDiskSpace(folders.home, sizeBytes * growth + spareBytes, options.freeBytes);
  const suffix = options.exact === true ? "-exact" : "";
  const name = `${modelName(model)}-${digest.slice(0, digestLetters)}${suffix}.gguf`;
  const target = path.join(folders.convertedDir, name);
  const { bytes } = await write(model, target, options);
  // The converted contents must match the digest.
  if ((await looking(model)).look !== look) {
    await rm(target, { force: true });
    throw changed(model);
  }
  const { quantization = null } = await peekFile(target);
  const file = { path: path.relative(folders.modelsDir, target), sizeBytes: bytes };
  return { quantization, files: [file], mmproj: null, addedAt: new Date().toISOString() };
}

function isAsked({ exact }: { exact: boolean }, options: FetchOptions): boolean {
  return options.exact === undefined || options.exact === exact;
}

/** The name of the folder or repository. */
function modelName({ id }: MlxModel): string {
  return path.posix.basename(id).replace(/:.*$/, "");
}

function modelPath({ files: [file] }: Pick<ManifestModel, "files">, folders: LibraryPaths): string {
  return absolutePath({ path: file?.path ?? "" }, folders);
}

async function write(
  model: MlxModel,
  target: string,
  { exact, onProgress, onConverted, signal }: FetchOptions & { onProgress: OnProgress },
): Promise<ConversionReport> {
  const converting = (bytes: number, totalBytes: number): void =>
    onProgress({ phase: "convert", bytes, totalBytes });
  const convert = async (): Promise<ConversionReport> => {
    await mkdir(path.dirname(target), { recursive: true });
    return await convertMlxFolder(model.folder, target, { exact, onProgress: converting, signal });
  };
  const report = await convert().catch((error: unknown) => {
    // The whole folder was readable a moment ago, so file system errors are about writing.
    throw diskFailure(ours(model, error), path.dirname(target));
  });
  onConverted?.(report);
  return report;
}

/** An earlier conversion of the same folder, or of the same commit of a repository. */
async function convertedFrom(
  { id, from }: MlxModel,
  folders: LibraryPaths,
): Promise<ManifestModel | undefined> {
  return await convertedBefore(
    (model) => model.id === id && model.source.kind === "mlx" && model.source.from === from,
    folders,
  );
}

/** A model of the manifest whose file is unchanged. */
async function convertedBefore(
  isMeant: (model: ManifestModel) => boolean,
  folders: LibraryPaths,
): Promise<ManifestModel | undefined> {
  for (const model of (await readManifest(folders)).models.filter(isMeant)) {
    if ((await fileBytes(modelPath(model, folders))) === model.files[0]?.sizeBytes) return model;
  }
  return undefined;
}

async function looking(model: MlxModel): Promise<{ look: string; sizeBytes: number }> {
  return await reading(model, async () => await readFolderContents(model.folder));
}

/** Runs a task that reads the folder, and converts its errors to the library's. */
async function reading<T>(model: MlxModel, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof Error) || !systemCode.test(errorCode(error) ?? "")) throw ours(model, error);
    const message = `${model.folder} cannot be read: ${error.message}.`;
    throw new EngineError("model_invalid", message, { cause: error, details: { path: model.folder } });
  }
}

/** Such as EACCES. Node's own codes contain underscores. */
const systemCode = /^E[A-Z0-9]+$/;

/** Converts the converter's errors to the library's; returns others unchanged. */
function ours(model: MlxModel, error: unknown): unknown {
  if (!(error instanceof MlxError)) return error;
  const isDamaged = error.code !== "mlx_unsupported";
  const message = isDamaged
    ? `${model.id} is not a complete MLX model. ${error.message} Download it again, or use a GGUF build of the model.`
    : `${model.id} cannot be converted from MLX's format. ${error.message} Use a GGUF build of the model.`;
  const details = { path: model.folder, reason: error.code };
  return new EngineError(isDamaged ? "model_invalid" : "model_unsupported", message, {
    cause: error,
    details,
  });
}

function changed({ folder }: MlxModel): EngineError {
  const message = `${folder} changed during the conversion. Start again when nothing writes to it.`;
  return new EngineError("model_invalid", message, { details: { path: folder } });
}

function lockPath({ folder }: MlxModel, { downloadsDir }: LibraryPaths): string {
  return path.join(
    downloadsDir,
    `mlx-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}.lock`,
  );
}
