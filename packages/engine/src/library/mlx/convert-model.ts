// Makes a GGUF file of a folder in MLX's format, once for each contents, and writes it down. Used for folders of this machine,
// by fetch-model.ts and import-model.ts, and for those that mlx-source.ts has brought.
//
//   converted/<name>-<digest>.gguf    what came of it; a folder that was moved or copied finds its file by the digest
import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import {
  checkSettings,
  convertMlxFolder,
  digestFolder,
  lookAtContents,
  MlxError,
  type ConversionReport,
} from "@ingle/mlx";
import { EngineError } from "../../errors.ts";
import { checkDiskSpace, diskFailure, spareBytes } from "../disk-space.ts";
import { fileBytes } from "../file-size.ts";
import { absolutePath } from "../installed.ts";
import { lockFile } from "../library-lock.ts";
import type { LibraryOptions } from "../library-options.ts";
import { readManifest, updateManifest, withModel, type ManifestModel } from "../manifest.ts";
import { peekFile } from "../model-facts.ts";
import { libraryPaths, makeFolders, type LibraryPaths } from "../paths.ts";
import { throttleProgress, type OnProgress } from "../progress.ts";

export interface ConvertModelOptions extends LibraryOptions {
  onProgress?: OnProgress | undefined;
  /**
   * Numbers of 16 bits where no block of ggml's holds the weights as they are. Default: as an earlier conversion of the same
   * folder, else false.
   */
  exact?: boolean | undefined;
  /** Told what was stored how, and what that costs; not called where the file is there already. */
  onConverted?: ((report: ConversionReport) => void) | undefined;
}

/** A folder to convert. */
export interface MlxModel {
  id: string;
  folder: string;
  /** Where it comes from, as the manifest has it. */
  from: string;
  /** The folder stays where it is, so that a glance at it says next time whether anything changed. */
  isKept: boolean;
}

/** Most builds become a little larger, those of 2 and 3 bits twice as large; the disk itself says when that is too much. */
const growth = 1.25;
/** Enough of a digest to tell conversions of one name apart. */
const digestLetters = 12;

/**
 * The path of the model's GGUF file. Throws `model_invalid` (the folder is damaged), `model_unsupported`, `disk_full`,
 * `download_failed` (no right to write), `library_locked`, `library_invalid` or the signal's reason.
 */
export async function convertModel(model: MlxModel, options: ConvertModelOptions = {}): Promise<string> {
  const folders = libraryPaths(options.env);
  const { look, sizeBytes } = await looking(model);
  const known = await convertedFrom(model, folders);
  if (known?.source.kind === "mlx" && known.source.look === look && isAsked(known.source, options))
    return pathOf(known, folders);
  const onProgress = throttleProgress(options.onProgress);
  await makeFolders(folders);
  await using lock = await lockFile(lockPath(model, folders), {
    onWait: () => onProgress({ phase: "waiting", bytes: 0, totalBytes: sizeBytes }),
    wait: options.wait,
    signal: options.signal,
  });
  const signal = options.signal === undefined ? lock.signal : AbortSignal.any([lock.signal, options.signal]);
  return await convertOnce(model, look, folders, { ...options, onProgress, signal });
}

async function convertOnce(
  model: MlxModel,
  look: string,
  folders: LibraryPaths,
  options: ConvertModelOptions & { onProgress: OnProgress; signal: AbortSignal },
): Promise<string> {
  const { onProgress, signal } = options;
  // Whoever had the lock before may have converted the same download, and put it away.
  const done = model.isKept ? undefined : await convertedFrom(model, folders);
  if (done?.source.kind === "mlx" && isAsked(done.source, options)) return pathOf(done, folders);
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
    // Nobody would know what it is.
    if (same === undefined) await rm(pathOf(entry, folders), { force: true });
    throw error;
  }
  return pathOf(entry, folders);
}

/** Throws `model_invalid` or `model_unsupported` for settings of a model that cannot be converted; weights are not read. */
export async function checkModel(model: MlxModel): Promise<void> {
  await reading(model, async () => await checkSettings(model.folder));
}

async function make(
  model: MlxModel,
  { look, sizeBytes, digest }: { look: string; sizeBytes: number; digest: string },
  folders: LibraryPaths,
  options: ConvertModelOptions & { onProgress: OnProgress },
): Promise<Omit<ManifestModel, "id" | "source">> {
  await checkDiskSpace(folders.home, sizeBytes * growth + spareBytes, options.freeBytes);
  const ending = options.exact === true ? "-exact" : "";
  const name = `${nameOf(model)}-${digest.slice(0, digestLetters)}${ending}.gguf`;
  const target = path.join(folders.convertedDir, name);
  const { bytes } = await write(model, target, options);
  // What was read must be what the digest is of.
  if ((await looking(model)).look !== look) {
    await rm(target, { force: true });
    throw changed(model);
  }
  const { quantization = null } = await peekFile(target);
  const file = { path: path.relative(folders.modelsDir, target), sizeBytes: bytes };
  return { quantization, files: [file], mmproj: null, addedAt: new Date().toISOString() };
}

function isAsked({ exact }: { exact: boolean }, options: ConvertModelOptions): boolean {
  return options.exact === undefined || options.exact === exact;
}

/** Of an id on the hub the repository's name. */
function nameOf({ id }: MlxModel): string {
  return path.posix.basename(id).replace(/:.*$/, "");
}

function pathOf({ files: [file] }: Pick<ManifestModel, "files">, folders: LibraryPaths): string {
  return absolutePath({ path: file?.path ?? "" }, folders);
}

async function write(
  model: MlxModel,
  target: string,
  { exact, onProgress, onConverted, signal }: ConvertModelOptions & { onProgress: OnProgress },
): Promise<ConversionReport> {
  const converting = (bytes: number, totalBytes: number): void =>
    onProgress({ phase: "convert", bytes, totalBytes });
  const convert = async (): Promise<ConversionReport> => {
    await mkdir(path.dirname(target), { recursive: true });
    return await convertMlxFolder(model.folder, target, { exact, onProgress: converting, signal });
  };
  const report = await convert().catch((error: unknown) => {
    // All of the folder could be read a moment ago: the system's errors are about what is written.
    throw diskFailure(ours(model, error), path.dirname(target));
  });
  onConverted?.(report);
  return report;
}

/** What came of the same folder, or of the same state of a repository, before. */
async function convertedFrom(
  { id, from }: MlxModel,
  folders: LibraryPaths,
): Promise<ManifestModel | undefined> {
  return await convertedBefore(
    (model) => model.id === id && model.source.kind === "mlx" && model.source.from === from,
    folders,
  );
}

/** The model of the manifest, if its file is there as it was written. */
async function convertedBefore(
  isMeant: (model: ManifestModel) => boolean,
  folders: LibraryPaths,
): Promise<ManifestModel | undefined> {
  for (const model of (await readManifest(folders)).models.filter(isMeant)) {
    if ((await fileBytes(pathOf(model, folders))) === model.files[0]?.sizeBytes) return model;
  }
  return undefined;
}

async function looking(model: MlxModel): Promise<{ look: string; sizeBytes: number }> {
  return await reading(model, async () => await lookAtContents(model.folder));
}

/** Runs a task that reads the folder; its errors come out as the library's. */
async function reading<T>(model: MlxModel, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    if (!(error instanceof Error) || typeof code !== "string" || !systemCode.test(code))
      throw ours(model, error);
    const message = `${model.folder} cannot be read: ${error.message}.`;
    throw new EngineError("model_invalid", message, { cause: error, details: { path: model.folder } });
  }
}

/** Such as EACCES. Node's own codes have more words. */
const systemCode = /^E[A-Z0-9]+$/;

/** An error of the converter as the library's; any other as it is. */
function ours(model: MlxModel, error: unknown): unknown {
  if (!(error instanceof MlxError)) return error;
  const isDamaged = error.code !== "mlx_unsupported";
  const message = isDamaged
    ? `${model.id} is no whole MLX model. ${error.message} Fetch it again, or take a GGUF build of the model.`
    : `${model.id} cannot be converted from MLX's format. ${error.message} A GGUF build of the model would do.`;
  const details = { path: model.folder, reason: error.code };
  return new EngineError(isDamaged ? "model_invalid" : "model_unsupported", message, {
    cause: error,
    details,
  });
}

function changed({ folder }: MlxModel): EngineError {
  const message = `${folder} changed while it was converted. Start again when nobody writes there.`;
  return new EngineError("model_invalid", message, { details: { path: folder } });
}

function lockPath({ folder }: MlxModel, { downloadsDir }: LibraryPaths): string {
  return path.join(
    downloadsDir,
    `mlx-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}.lock`,
  );
}
