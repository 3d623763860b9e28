// Which files of a repository are a model in MLX's format. Pure.
import { isModelFile } from "@ingle/mlx";
import type { HubFile, HubRepository } from "../hub/hub-api.ts";

/** A repository of the hub whose one model is such a build. */
export interface MlxRepository {
  repository: HubRepository;
  /** Weights, settings and tokenizer. */
  files: HubFile[];
  sizeBytes: number;
}

/** What stands behind the colon of such a model's id, as quantizations do for others. */
export const mlxChoice = "MLX";

/** Undefined for a repository that is not said to be MLX's, or that lacks what a model needs. */
export function mlxRepository(repository: HubRepository): MlxRepository | undefined {
  const files = repository.files.filter(({ path }) => !path.includes("/") && isModelFile(path));
  const isWhole =
    files.some(({ path }) => path === "config.json") &&
    files.some(({ path }) => /^model.*\.safetensors$/.test(path));
  if (!repository.isMlx || !isWhole) return undefined;
  return { repository, files, sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0) };
}
