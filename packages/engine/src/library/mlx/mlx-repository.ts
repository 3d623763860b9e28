// The files of a model in MLX's format in a repository of the hub.
import { isModelFile } from "@ingle/mlx";
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
  const files = repository.files.filter(({ path }) => !path.includes("/") && isModelFile(path));
  const isComplete =
    files.some(({ path }) => path === "config.json") &&
    files.some(({ path }) => /^model.*\.safetensors$/.test(path));
  if (!repository.isMlx || !isComplete) return undefined;
  return { repository, files, sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0) };
}
