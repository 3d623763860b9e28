// Folders of LoRA adapters in the formats of PEFT and mlx-lm: each is converted once to a GGUF file for its model.
//
//   converted/<name>-<digest>.gguf    the digest is of what the file system reports about the folder and the model's file
import { createHash } from "node:crypto";
import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { convertAdapterFolder, isAdapterFolder, readFolderContents, MlxError } from "@ingle/mlx";
import { EngineError } from "../../base/errors.ts";
import { checkDiskSpace, diskFailure, spareBytes } from "../disk-space.ts";
import { fileBytes } from "../durable-files.ts";
import { resolveUserPath } from "../../base/home.ts";
import { libraryPaths } from "../../base/home.ts";

/** Incremented when the same folder would be converted to other bytes. */
const CONVERTER_VERSION = 1;
/** Values are written with at most twice as many bits as they had. */
const growth = 2;
const digestLetters = 12;

/**
 * The path of the adapter's GGUF file: the path itself unless it is a folder, which is converted if it has not been yet. Throws
 * `model_invalid` (the folder is damaged or of another kind), `model_unsupported`, `adapter_mismatch`, `disk_full` or `download_failed`
 * (not writable).
 */
export async function adapterGguf(
  adapter: string,
  modelFile: string,
  env?: NodeJS.ProcessEnv,
): Promise<string> {
  const resolved = resolveUserPath(adapter);
  if (!(await isFolder(resolved))) return resolved;
  try {
    if (!(await isAdapterFolder(resolved))) {
      const message = `${resolved} has no adapter_config.json. Name a GGUF file, or the folder of an adapter that PEFT or mlx-lm wrote.`;
      throw new EngineError("model_invalid", message);
    }
    return await converted(resolved, modelFile, env);
  } catch (error) {
    throw ours(resolved, error);
  }
}

async function isFolder(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isDirectory();
  } catch {
    // Reading the file reports why.
    return false;
  }
}

async function converted(
  folder: string,
  modelFile: string,
  env: NodeJS.ProcessEnv | undefined,
): Promise<string> {
  const { look, sizeBytes } = await readFolderContents(folder);
  const { size, mtimeMs, ino, dev } = await stat(modelFile);
  const parts = JSON.stringify([CONVERTER_VERSION, look, size, mtimeMs, ino, dev]);
  const digest = createHash("sha256").update(parts).digest("hex").slice(0, digestLetters);
  const { convertedDir, home } = libraryPaths(env);
  const target = path.join(convertedDir, `${path.basename(folder)}-${digest}.gguf`);
  if ((await fileBytes(target)) !== undefined) return target;
  try {
    await mkdir(convertedDir, { recursive: true });
    await checkDiskSpace(home, sizeBytes * growth + spareBytes);
    await convertAdapterFolder(folder, target, { base: modelFile });
  } catch (error) {
    throw diskFailure(error, convertedDir);
  }
  return target;
}

/** Converts the converter's errors to the library's; returns others unchanged. */
function ours(folder: string, error: unknown): unknown {
  if (!(error instanceof MlxError)) return error;
  const details = { path: folder, reason: error.code };
  if (error.code === "mlx_mismatch") {
    const message = `The adapter ${folder} does not fit the model: ${error.message} Load it with the model that it was made for.`;
    return new EngineError("adapter_mismatch", message, { cause: error, details });
  }
  if (error.code === "mlx_unsupported")
    return new EngineError("model_unsupported", `The adapter ${folder} is not supported: ${error.message}`, {
      cause: error,
      details,
    });
  const message = `The adapter ${folder} is damaged or incomplete: ${error.message} Download it again.`;
  return new EngineError("model_invalid", message, { cause: error, details });
}
