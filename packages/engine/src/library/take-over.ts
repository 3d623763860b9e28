// Takes over the models of another program without copying them: a second name for the same file, which stays if that program removes
// its own. Where the file system has no such names, a link leads to the file.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { readGguf } from "@ingle/gguf";
import { EngineError } from "../base/errors.ts";
import { libraryPaths, type LibraryPaths } from "../base/home.ts";
import { diskFailure } from "./disk-space.ts";
import { fileBytes, syncFolder } from "./durable-files.ts";
import { listModels } from "./installed.ts";
import type { FetchOptions } from "./library-options.ts";
import {
  readManifest,
  updateManifest,
  withModel,
  type ManifestFile,
  type ManifestModel,
} from "./manifest.ts";
import { toModelError, toModelFacts } from "./model-facts.ts";
import { scanLmStudio } from "./model-folders.ts";
import { readOllamaModels, type DigestedFile, type OtherModel } from "./ollama-folder.ts";
import { throttleProgress } from "./progress.ts";

/** The programs whose models can be taken over. */
export const otherPrograms = ["ollama", "lm-studio"] as const;
export type OtherProgram = (typeof otherPrograms)[number];

export interface TakeOverOptions extends FetchOptions {
  /** Only the model of this id. */
  only?: string | undefined;
}

/** What became of one model of the other program. */
export interface TakenModel {
  id: string;
  /** `refused`: `problem` says why; nothing was changed. */
  outcome: "taken" | "already-there" | "refused";
  /** The file to load; undefined for a refused model. */
  path: string | undefined;
  sizeBytes: number;
  problem: string | undefined;
}

/**
 * Registers the other program's models under their names there. Each file's digest is checked if the program records one, which reads the
 * whole file, and the header of each file. A model that cannot be used does not stop the others.
 * Throws `model_not_found` (there is none), `library_invalid`, `disk_full`, `download_failed` (not writable) or the signal's reason.
 */
export async function takeOverModels(
  program: OtherProgram,
  options: TakeOverOptions = {},
): Promise<TakenModel[]> {
  const { env = process.env, only, signal } = options;
  signal?.throwIfAborted();
  const folders = libraryPaths(env);
  const found = program === "ollama" ? await readOllamaModels(env) : await readLmStudioModels(env);
  const chosen = only === undefined ? found : found.filter(({ id }) => id === only);
  if (chosen.length === 0) throw nothing(program, only, found);
  const known = new Set((await readManifest(folders)).models.map(({ id }) => id));
  const present = await listModels(options);
  const taken: TakenModel[] = [];
  for (const model of chosen) {
    signal?.throwIfAborted();
    const sizeBytes = allFiles(model).reduce((sum, file) => sum + file.sizeBytes, 0);
    if (known.has(model.id)) {
      const at = present.find(({ id }) => id === model.id)?.path;
      taken.push({ id: model.id, outcome: "already-there", path: at, sizeBytes, problem: undefined });
      continue;
    }
    taken.push(await takeOver(model, { folders, sizeBytes, options }));
    known.add(model.id);
  }
  return taken;
}

/** LM Studio records no digests. */
async function readLmStudioModels(env: NodeJS.ProcessEnv): Promise<OtherModel[]> {
  const withoutDigest = (file: { path: string; sizeBytes: number }): DigestedFile => ({
    ...file,
    sha256: null,
  });
  return (await scanLmStudio(env)).map(({ id, files, mmproj, quantization }) => ({
    id,
    quantization,
    files: files.map(withoutDigest),
    mmproj: mmproj === undefined ? undefined : withoutDigest(mmproj),
  }));
}

function nothing(program: OtherProgram, only: string | undefined, found: readonly OtherModel[]): EngineError {
  const title = { ollama: "Ollama", "lm-studio": "LM Studio" }[program];
  const there = found.map(({ id }) => id).join(", ");
  const message =
    only === undefined || found.length === 0
      ? `${title} has no complete model in its folder.`
      : `${title} has no complete model called ${only}. It has ${there}.`;
  return new EngineError("model_not_found", message);
}

async function takeOver(
  model: OtherModel,
  { folders, sizeBytes, options }: { folders: LibraryPaths; sizeBytes: number; options: TakeOverOptions },
): Promise<TakenModel> {
  const { id } = model;
  let quantization: string | undefined;
  try {
    quantization = await checked(model, sizeBytes, options);
  } catch (error) {
    if (!EngineError.is(error)) throw error;
    return { id, outcome: "refused", path: undefined, sizeBytes, problem: error.message };
  }
  const folder = path.join(folders.modelsDir, "imported", encodeURIComponent(id));
  try {
    const entry: ManifestModel = {
      id,
      quantization: quantization ?? null,
      files: await linkAll(model.files, { folder, name: fileName(id) }, folders),
      mmproj:
        model.mmproj === undefined
          ? null
          : ((await linkAll([model.mmproj], { folder, name: `mmproj-${fileName(id)}` }, folders))[0] ?? null),
      // The links are Ingle's own, and removed with the model; the other program's files stay.
      source: { kind: "import", isCopy: true },
      addedAt: new Date().toISOString(),
    };
    await syncFolder(folder);
    await updateManifest(folders, (manifest) => withModel(manifest, entry), options);
    const at = path.resolve(folders.modelsDir, entry.files[0]?.path ?? "");
    return { id, outcome: "taken", path: at, sizeBytes, problem: undefined };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Returns the quantization. Throws `model_invalid`. */
async function checked(
  model: OtherModel,
  totalBytes: number,
  { onProgress, signal }: TakeOverOptions,
): Promise<string | undefined> {
  const report = throttleProgress(onProgress);
  let bytes = 0;
  for (const file of allFiles(model)) {
    if (file.sha256 === null) continue;
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(file.path, { signal })) {
      hash.update(chunk);
      bytes += chunk.length;
      report({ phase: "verify", bytes, totalBytes });
    }
    if (hash.digest("hex") === file.sha256) continue;
    throw new EngineError(
      "model_invalid",
      `${file.path} is damaged: its contents do not have the digest in its name.`,
    );
  }
  let quantization = model.quantization;
  for (const [index, file] of allFiles(model).entries()) {
    try {
      const { metadata } = await readGguf(file.path, { isLenient: true });
      if (index === 0) quantization ??= toModelFacts(file.path, metadata).quantization;
    } catch (error) {
      throw toModelError(file.path, error);
    }
  }
  return quantization;
}

function allFiles({ files, mmproj }: OtherModel): DigestedFile[] {
  return mmproj === undefined ? files : [...files, mmproj];
}

/** A part of a split model keeps its name, by which llama.cpp finds the others. */
async function linkAll(
  files: readonly DigestedFile[],
  { folder, name }: { folder: string; name: string },
  { modelsDir }: LibraryPaths,
): Promise<ManifestFile[]> {
  const linked: ManifestFile[] = [];
  for (const file of files) {
    const target = path.join(folder, files.length > 1 ? path.basename(file.path) : `${name}.gguf`);
    await linkFile(file.path, target);
    linked.push({
      path: path.relative(modelsDir, target).split(path.sep).join("/"),
      sizeBytes: file.sizeBytes,
      ...(file.sha256 === null ? {} : { sha256: file.sha256 }),
    });
  }
  return linked;
}

async function linkFile(from: string, target: string): Promise<void> {
  try {
    await mkdir(path.dirname(target), { recursive: true });
    await rm(target, { force: true }); // of an earlier attempt
    // Another disk, another owner's file, or a file system without hard links.
    await link(from, target).catch(async () => await symlink(from, target));
  } catch (error) {
    throw diskFailure(error, path.dirname(target));
  }
  if ((await fileBytes(target)) === undefined)
    throw new EngineError("download_failed", `${target} cannot be read although it was linked to ${from}.`);
}

/** A name for files and folders, from an id. */
function fileName(id: string): string {
  return id.replaceAll(/[^\w.-]+/g, "-");
}
