// Finds models in folders: Ingle's own and those of other programs, which are used in place.
//
//   Ingle, LM Studio       <org>/<repo>/…/file.gguf
//   the Hugging Face cache models--<org>--<repo>/snapshots/<commit>/…/file.gguf
//   llama.cpp's            <anything>.gguf
import { readdir, readFile, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { errorCode } from "../base/errors.ts";
import { choiceName } from "./choose-quantization.ts";
import { groupGgufFiles, type ListedFile } from "./gguf-files.ts";
import { isGgufName } from "./model-spec.ts";

/** The owner of a folder. */
export type Place = "ingle" | "huggingface" | "lm-studio" | "llama.cpp";

export interface FoundModel {
  id: string;
  place: Place;
  quantization: string | undefined;
  /** Absolute paths, in order. */
  files: ListedFile[];
  mmproj: ListedFile | undefined;
}

/** A folder of models has some hundred files; this limits the scan if it is a whole disk. */
const entriesMax = 20_000;
/** Repositories have only a few levels of folders. */
const levelsMax = 4;

/** The models in a folder of `<org>/<repo>` folders, and directly in it. */
export async function scanRepositories(root: string, place: Place): Promise<FoundModel[]> {
  const budget = { left: entriesMax };
  const found: FoundModel[] = await scanFlat(root, place, budget);
  for (const org of await foldersIn(root, budget)) {
    for (const repo of await foldersIn(path.join(root, org), budget)) {
      const folder = path.join(root, org, repo);
      found.push(
        ...toModels(await listFiles(folder, levelsMax, budget), { folder, place, repo: `${org}/${repo}` }),
      );
    }
  }
  return found;
}

/** The models in the Hugging Face cache, at the commit of its `main`. */
async function scanHuggingFaceCache(root: string): Promise<FoundModel[]> {
  const budget = { left: entriesMax };
  const found: FoundModel[] = [];
  for (const name of await foldersIn(root, budget)) {
    const [kind, org, repo, ...more] = name.split("--");
    if (kind !== "models" || org === undefined || repo === undefined) continue;
    const commit = await mainCommit(path.join(root, name));
    if (commit === undefined) continue;
    const folder = path.join(root, name, "snapshots", commit);
    const repoId = `${org}/${[repo, ...more].join("--")}`;
    found.push(
      ...toModels(await listFiles(folder, levelsMax, budget), { folder, place: "huggingface", repo: repoId }),
    );
  }
  return found;
}

/** The models directly in a folder. Their ids are their file names. */
async function scanFlat(
  root: string,
  place: Place,
  budget: { left: number } = { left: entriesMax },
): Promise<FoundModel[]> {
  return toModels(await listFiles(root, 0, budget), { folder: root, place, repo: undefined });
}

/** The models of other programs on this machine, in the order of the folders below. */
export async function scanOtherPrograms(env: NodeJS.ProcessEnv): Promise<FoundModel[]> {
  const { home, cache } = homeFolders(env);
  const hfHome = nonEmpty(env["HF_HOME"]) ?? path.join(cache, "huggingface");
  const hf = nonEmpty(env["HF_HUB_CACHE"]) ?? path.join(hfHome, "hub");
  const llama = process.platform === "darwin" ? path.join(home, "Library", "Caches") : cache;
  const scans = await Promise.all([
    scanHuggingFaceCache(hf),
    scanLmStudio(env),
    scanFlat(nonEmpty(env["LLAMA_CACHE"]) ?? path.join(llama, "llama.cpp"), "llama.cpp"),
  ]);
  return scans.flat();
}

/** The models of LM Studio, in its folder of today and in that of its first versions. */
export async function scanLmStudio(env: NodeJS.ProcessEnv): Promise<FoundModel[]> {
  const { home, cache } = homeFolders(env);
  const studio = (await lmStudioHome(home)) ?? path.join(home, ".lmstudio");
  const scans = await Promise.all(
    [path.join(studio, "models"), path.join(cache, "lm-studio", "models")].map((folder) =>
      scanRepositories(folder, "lm-studio"),
    ),
  );
  return scans.flat();
}

function homeFolders(env: NodeJS.ProcessEnv): { home: string; cache: string } {
  const home = nonEmpty(env["HOME"]) ?? nonEmpty(env["USERPROFILE"]) ?? os.homedir();
  return { home, cache: nonEmpty(env["XDG_CACHE_HOME"]) ?? path.join(home, ".cache") };
}

/** Paths of all files in a folder and its subfolders, down to `levels`, with slashes; none if there is no folder. */
export async function filesBelow(
  folder: string,
  levels: number,
  budget: { left: number } = { left: entriesMax },
): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await entriesIn(folder, budget)) {
    if (entry.isFile()) files.push(entry.name);
    else if (entry.isDirectory() && levels > 0) {
      const below = await filesBelow(path.join(folder, entry.name), levels - 1, budget);
      files.push(...below.map((name) => `${entry.name}/${name}`));
    }
  }
  return files;
}

/**
 * The GGUF files in a folder and its subfolders, down to `levels`; none if there is no folder. Links to files are followed,
 * links to folders are not. Names with control characters are omitted.
 */
export async function listFiles(
  folder: string,
  levels: number = levelsMax,
  budget: { left: number } = { left: entriesMax },
): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  for (const entry of await entriesIn(folder, budget)) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory() && levels > 0) {
      const below = await listFiles(full, levels - 1, budget);
      files.push(...below.map((file) => ({ ...file, path: `${entry.name}/${file.path}` })));
    } else if (isGgufName(entry.name) && !/\p{Cc}/u.test(entry.name)) {
      const stats = await stat(full).catch(() => undefined); // a broken link is skipped
      if (stats?.isFile() === true) files.push({ path: entry.name, sizeBytes: stats.size });
    }
  }
  return files;
}

function toModels(
  files: readonly ListedFile[],
  { folder, place, repo }: { folder: string; place: Place; repo: string | undefined },
): FoundModel[] {
  const groups = groupGgufFiles(files, repo === undefined ? "folder" : "repository");
  const absolute = (file: ListedFile): ListedFile => ({ ...file, path: path.join(folder, file.path) });
  return groups.map((group) => ({
    id: repo === undefined ? group.stem : `${repo}:${choiceName(group, groups)}`,
    place,
    quantization: group.quantization,
    files: group.files.map(absolute),
    mmproj: group.mmproj === undefined ? undefined : absolute(group.mmproj),
  }));
}

async function foldersIn(folder: string, budget: { left: number }): Promise<string[]> {
  const entries = await entriesIn(folder, budget);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** In alphabetical order; empty for a missing or unreadable folder. */
async function entriesIn(folder: string, budget: { left: number }) {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const kept = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, Math.max(0, budget.left));
    budget.left -= kept.length;
    return kept;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(errorCode(error) ?? "")) return [];
    throw error;
  }
}

async function mainCommit(repositoryFolder: string): Promise<string | undefined> {
  const text = await textIn(path.join(repositoryFolder, "refs", "main"));
  if (text !== undefined && /^[0-9a-f]{40}$/.test(text)) return text;
  const snapshots = await foldersIn(path.join(repositoryFolder, "snapshots"), { left: entriesMax });
  return snapshots.length === 1 ? snapshots[0] : undefined;
}

/** LM Studio records its home folder in a file. */
async function lmStudioHome(home: string): Promise<string | undefined> {
  const pointer = await textIn(path.join(home, ".lmstudio-home-pointer"));
  return pointer !== undefined && path.isAbsolute(pointer) ? pointer : undefined;
}

/** The trimmed contents of a file of one line; undefined if it is missing or unreadable. */
async function textIn(file: string): Promise<string | undefined> {
  try {
    const stats = await stat(file);
    return stats.isFile() && stats.size < 4096 ? (await readFile(file, "utf8")).trim() : undefined;
  } catch {
    return undefined; // another program's file, missing or unreadable
  }
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}
