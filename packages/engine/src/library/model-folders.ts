// Models in folders: our own and those of other programs, which are read where they lie. Used by installed.ts.
//
//   ours, LM Studio's      <org>/<repo>/…/file.gguf
//   the Hugging Face cache models--<org>--<repo>/snapshots/<commit>/…/file.gguf
//   llama.cpp's            <anything>.gguf
import { readdir, readFile, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { choiceName } from "./choose-quantization.ts";
import { groupGgufFiles, type ListedFile } from "./gguf-files.ts";
import { isGgufName } from "./model-spec.ts";

/** Whose folder it is. */
export type Place = "ingle" | "huggingface" | "lm-studio" | "llama.cpp";

export interface FoundModel {
  id: string;
  place: Place;
  quantization: string | undefined;
  /** Absolute, in order. */
  files: ListedFile[];
  mmproj: ListedFile | undefined;
}

/** A folder of models has some hundred files; one that is a whole disk is not read to its end. */
const entriesMax = 20_000;
/** Repositories keep files at most a few folders deep. */
const levelsMax = 4;

/** The models in a folder of `<org>/<repo>` folders, and those that lie in it directly. */
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

/** The models in the Hugging Face cache, at the commit that its `main` stands at. */
export async function scanHuggingFaceCache(root: string): Promise<FoundModel[]> {
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

/** The models that lie in a folder directly. Their ids are their files' names. */
export async function scanFlat(
  root: string,
  place: Place,
  budget: { left: number } = { left: entriesMax },
): Promise<FoundModel[]> {
  return toModels(await listFiles(root, 0, budget), { folder: root, place, repo: undefined });
}

/** All models that other programs left on this machine, those of the first folder first. */
export async function scanForeign(env: NodeJS.ProcessEnv): Promise<FoundModel[]> {
  const home = said(env["HOME"]) ?? said(env["USERPROFILE"]) ?? os.homedir();
  const cache = said(env["XDG_CACHE_HOME"]) ?? path.join(home, ".cache");
  const hf =
    said(env["HF_HUB_CACHE"]) ?? path.join(said(env["HF_HOME"]) ?? path.join(cache, "huggingface"), "hub");
  const studio = (await lmStudioHome(home)) ?? path.join(home, ".lmstudio");
  const llama = process.platform === "darwin" ? path.join(home, "Library", "Caches") : cache;
  const scans = await Promise.all([
    scanHuggingFaceCache(hf),
    scanRepositories(path.join(studio, "models"), "lm-studio"),
    scanRepositories(path.join(cache, "lm-studio", "models"), "lm-studio"),
    scanFlat(said(env["LLAMA_CACHE"]) ?? path.join(llama, "llama.cpp"), "llama.cpp"),
  ]);
  return scans.flat();
}

/**
 * The GGUF files in a folder, and in those below it to so many levels; none where there is no folder. Links to files are
 * followed, to folders not. Names that would move a terminal's cursor are left out.
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
      const stats = await stat(full).catch(() => undefined); // a link into nothing is no model
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

/** In alphabetical order. A folder that is not there, or not ours to read, holds nothing. */
async function entriesIn(folder: string, budget: { left: number }) {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const kept = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, Math.max(0, budget.left));
    budget.left -= kept.length;
    return kept;
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES" || code === "EPERM") return [];
    throw error;
  }
}

async function mainCommit(repositoryFolder: string): Promise<string | undefined> {
  const text = await textIn(path.join(repositoryFolder, "refs", "main"));
  if (text !== undefined && /^[0-9a-f]{40}$/.test(text)) return text;
  const snapshots = await foldersIn(path.join(repositoryFolder, "snapshots"), { left: entriesMax });
  return snapshots.length === 1 ? snapshots[0] : undefined;
}

/** LM Studio writes down where it was told to live. */
async function lmStudioHome(home: string): Promise<string | undefined> {
  const pointer = await textIn(path.join(home, ".lmstudio-home-pointer"));
  return pointer !== undefined && path.isAbsolute(pointer) ? pointer : undefined;
}

/** A file of one line, without the space around it; undefined where there is none to read. */
async function textIn(file: string): Promise<string | undefined> {
  try {
    const stats = await stat(file);
    return stats.isFile() && stats.size < 4096 ? (await readFile(file, "utf8")).trim() : undefined;
  } catch {
    return undefined; // another program's file: absent, or closed to us
  }
}

function said(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}
