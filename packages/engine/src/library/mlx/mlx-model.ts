// Models in MLX's format before they are converted: their files in a repository of the hub, and the id of one in a folder.
import { createHash } from "node:crypto";
import path from "node:path";
import { readFolderContents, isModelFile } from "@ingle/mlx";
import { readManifest, type ManifestModel } from "../manifest.ts";
import { libraryPaths } from "../../base/home.ts";
import type { HubFile, HubRepository } from "../hub/hub-api.ts";

export interface MlxRepository {
  repository: HubRepository;
  /** Weights, settings and tokenizer. */
  files: HubFile[];
  sizeBytes: number;
}

/** The part of such a model's id after the colon, where other models have their quantization. */
export const mlxChoice = "MLX";

/** Undefined for a repository without the tag `mlx`, or without a required file. */
export function mlxRepository(repository: HubRepository): MlxRepository | undefined {
  const files = repository.files.filter((file) => !file.path.includes("/") && isModelFile(file.path));
  const isComplete =
    files.some((file) => file.path === "config.json") &&
    files.some((file) => /^model.*\.safetensors$/.test(file.path));
  if (!repository.isMlx || !isComplete) return undefined;
  return { repository, files, sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0) };
}

/** Enough to distinguish folders of the same name. */
const digestLetters = 6;

/**
 * The folder's name; if another model has that name, followed by a part of a digest of the folder's path. So a model keeps its
 * id when a folder of the same name is opened, and MLX's own tools name all of theirs `mlx_model`. Throws `library_invalid`.
 */
export async function folderId(folder: string, env: NodeJS.ProcessEnv | undefined): Promise<string> {
  const { models } = await readManifest(libraryPaths(env));
  const own = models.find(({ source }) => source.kind === "mlx" && source.from === folder);
  if (own !== undefined) return own.id;
  const name = path.basename(folder);
  const other = models.find(({ id }) => id === name);
  if (other === undefined || (await isMoved(other, folder))) return name;
  return `${name}-${createHash("sha256").update(folder).digest("hex").slice(0, digestLetters)}`;
}

/** Whether the model was converted from this folder before it was moved. */
async function isMoved({ source }: ManifestModel, folder: string): Promise<boolean> {
  if (source.kind !== "mlx" || source.look === null) return false;
  // The conversion reports why a folder cannot be read.
  const contents = await readFolderContents(folder).catch(() => undefined);
  return contents?.look === source.look;
}
