// Downloads a model of the hub to models/<org>/<repo>, and adds it to the manifest.
import path from "node:path";
import { fileBytes } from "../durable-files.ts";
import { readManifest, updateManifest, withModel, type ManifestFile } from "../manifest.ts";
import { downloadFiles, type HubSourceOptions } from "./download-files.ts";
import type { HubFile, HubModel } from "./hub-api.ts";
import { libraryPaths, type LibraryPaths } from "../../base/home.ts";

/** Returns the path of the model's first file. One process downloads from a repository at a time; others wait. Throws as `fetchModel`. */
export async function downloadFromHub(
  id: string,
  found: HubModel,
  options: HubSourceOptions = {},
): Promise<string> {
  const folders = libraryPaths(options.env);
  const wanted = {
    repository: found.repository,
    files: modelFiles(found),
    targetPath: (file: HubFile): string => targetPath(file, found, folders),
    missing: async (files: readonly HubFile[]): Promise<HubFile[]> =>
      await filesToFetch(files, found, folders),
  };
  await downloadFiles(wanted, options, async (signal) => {
    await updateManifest(folders, (manifest) => withModel(manifest, toManifestEntry(id, found)), { signal });
  });
  return targetPath(found.group.files[0], found, folders);
}

/** All files of the model, the projector last. */
function modelFiles({ group }: HubModel): HubFile[] {
  return [...group.files, ...(group.mmproj === undefined ? [] : [group.mmproj])];
}

function targetPath(
  file: HubFile | undefined,
  { repository }: HubModel,
  { modelsDir }: LibraryPaths,
): string {
  return path.join(modelsDir, relativePath(repository.repo, file?.path ?? ""));
}

/** The manifest has slashes on every system. hub-api.ts has checked both parts. */
function relativePath(repo: string, file: string): string {
  return `${repo}/${file}`;
}

/** Files that are missing, or that are from an earlier commit. */
async function filesToFetch(
  files: readonly HubFile[],
  found: HubModel,
  folders: LibraryPaths,
): Promise<HubFile[]> {
  const { models } = await readManifest(folders);
  const known = new Map(
    models.flatMap((model) => [...model.files, model.mmproj]).map((file) => [file?.path, file?.sha256]),
  );
  const missing: HubFile[] = [];
  for (const file of files) {
    // A file gets its name only after a full check, so its size is enough if the manifest has no checksum.
    const isThere = (await fileBytes(targetPath(file, found, folders))) === file.sizeBytes;
    const knownSha256 = known.get(relativePath(found.repository.repo, file.path)) ?? file.sha256;
    if (!isThere || knownSha256 !== file.sha256) missing.push(file);
  }
  return missing;
}

function toManifestEntry(id: string, { repository, group }: HubModel) {
  const toEntry = (file: HubFile): ManifestFile => ({
    path: relativePath(repository.repo, file.path),
    sizeBytes: file.sizeBytes,
    ...(file.sha256 === undefined ? {} : { sha256: file.sha256 }),
  });
  return {
    id,
    quantization: group.quantization ?? null,
    files: group.files.map(toEntry),
    mmproj: group.mmproj === undefined ? null : toEntry(group.mmproj),
    source: { kind: "hub" as const, repo: repository.repo, commit: repository.commit },
    addedAt: new Date().toISOString(),
  };
}
