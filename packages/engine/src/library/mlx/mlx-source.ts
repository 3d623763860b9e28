// Downloads a model in MLX's format from the hub, converts it to GGUF, and deletes the download.
//
//   downloads/mlx/<org>+<repo>+<commit>/    stays until the conversion is complete, so that an interrupted one continues
import { rm } from "node:fs/promises";
import path from "node:path";
import { fileBytes } from "../durable-files.ts";
import { downloadFiles, flatName, type HubSourceOptions } from "../hub/download-files.ts";
import { downloadSmall } from "../hub/download-small.ts";
import type { HubFile } from "../hub/hub-api.ts";
import { checkModel, convertModel } from "./convert-model.ts";
import type { MlxRepository } from "./mlx-model.ts";
import { libraryPaths } from "../../base/home.ts";

/**
 * The path of the model's GGUF file. Throws as `downloadFromHub` and `convertModel`; downloaded parts stay for the next call.
 */
export async function convertFromHub(
  id: string,
  { repository, files }: MlxRepository,
  options: HubSourceOptions = {},
): Promise<string> {
  const { downloadsDir } = libraryPaths(options.env);
  const { repo, commit } = repository;
  const folder = path.join(downloadsDir, "mlx", `${flatName(repo)}+${commit.slice(0, 12)}`);
  const targetPath = (file: HubFile): string => path.join(folder, file.path);
  const missing = async (wanted: readonly HubFile[]): Promise<HubFile[]> => {
    const sizes = await Promise.all(wanted.map((file) => fileBytes(targetPath(file))));
    return wanted.filter((file, index) => sizes[index] !== file.sizeBytes);
  };
  const model = { id, folder, from: `${repo}@${commit}`, isKept: false };
  for (const file of await missing(files.filter(({ sha256 }) => sha256 === undefined)))
    await downloadSmall(file, repository, targetPath(file), options);
  // Before gigabytes are downloaded in vain.
  await checkModel(model);
  const large = files.filter(({ sha256 }) => sha256 !== undefined);
  await downloadFiles({ repository, files: large, targetPath, missing }, options, async () => {});
  const file = await convertModel(model, options);
  await rm(folder, { recursive: true, force: true });
  return file;
}
