// What the model of a folder in MLX's format is called. Used by locate.ts and import-model.ts, before anything is converted.
import { createHash } from "node:crypto";
import path from "node:path";
import { lookAtContents } from "@ingle/mlx";
import { readManifest, type ManifestModel } from "../manifest.ts";
import { libraryPaths } from "../paths.ts";

/** Enough to tell namesakes apart. */
const digestLetters = 6;

/**
 * The folder's name. Where another model has that, a part of a digest of the folder's path stands behind it: a model keeps
 * its name when somebody opens a folder that is called alike, and `mlx_model` is what MLX's own tools call all of theirs.
 * Throws `library_invalid`.
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

/** Whether the model came of this very folder, which lay elsewhere then. */
async function isMoved({ source }: ManifestModel, folder: string): Promise<boolean> {
  if (source.kind !== "mlx" || source.look === null) return false;
  // What is wrong with a folder that cannot be read is said when it is converted.
  const contents = await lookAtContents(folder).catch(() => undefined);
  return contents?.look === source.look;
}
