// Which projector for images belongs to which model, by the names that their makers give them. Used by gguf-files.ts. Pure.
//
//   mmproj-F16.gguf, mmproj-model-f16.gguf, mmproj.gguf      names no model
//   mmproj-NAME-f16.gguf, NAME-mmproj-f16.gguf, NAME.mmproj-Q8_0.gguf
//   org_repo_mmproj-….gguf                                   llama.cpp's own folder, beside org_repo_….gguf
import path from "node:path";
import { quantizationInName, withoutQuantization } from "./quantization.ts";

interface NamedFile {
  /** With slashes between folders, relative to the repository or folder. */
  path: string;
}

/** `repository`: of one model, whatever its files are called. `folder`: what somebody put together. */
export type ListKind = "repository" | "folder";

/** The projector's quantization matters little and its size does: half floats are what its makers measure with. */
const quantizationOrder = ["F16", "BF16", "Q8_0", "F32"];
const projectorPattern = /(^|[-._])mmproj([-._]|$)/i;
/** Names that say nothing, as tools write them that are told none. */
const namelessNames = new Set(["", "model", "ggml model"]);

export function isProjector(filePath: string): boolean {
  return projectorPattern.test(path.posix.basename(filePath));
}

/**
 * The projector of the model's own folder, or of the top of the list: one that is named like the model; else one that is
 * named like no model here, where all of them are one model in several quantizations.
 */
export function projectorFor<File extends NamedFile>(
  model: NamedFile,
  { models, projectors, kind }: { models: readonly NamedFile[]; projectors: readonly File[]; kind: ListKind },
): File | undefined {
  const beside = projectors.filter((file) => folderOf(file) === folderOf(model));
  const near = beside.length > 0 ? beside : projectors.filter((file) => folderOf(file) === ".");
  const named = near.filter((file) => isNamedLike(file, model));
  if (named.length > 0) return best(named);
  const others = beside.length > 0 ? models.filter((file) => folderOf(file) === folderOf(model)) : models;
  const isOneModel = kind === "repository" || new Set(others.map(modelName)).size <= 1;
  return isOneModel
    ? best(near.filter((file) => !others.some((other) => isNamedLike(file, other))))
    : undefined;
}

/** Of several those whose name says most, and of these the one that `quantizationOrder` names first. */
function best<File extends NamedFile>(files: readonly File[]): File | undefined {
  const length = Math.max(...files.map((file) => subjectOf(file).length));
  const rank = (file: File): number => {
    const place = quantizationOrder.indexOf(quantizationInName(stemOf(file)) ?? "");
    return place === -1 ? quantizationOrder.length : place;
  };
  return files.filter((file) => subjectOf(file).length === length).toSorted((a, b) => rank(a) - rank(b))[0];
}

/** Whole words: `mmproj-lfm2-vl-1.gguf` is none of `lfm2-vl-1b`. */
function isNamedLike(projector: NamedFile, model: NamedFile): boolean {
  const subject = subjectOf(projector);
  return subject !== "" && `${modelName(model)} `.startsWith(`${subject} `);
}

/** Whose projector it calls itself: what stands before "mmproj" and behind it. Empty where it does not say. */
function subjectOf(projector: NamedFile): string {
  const sides = stemOf(projector).split(projectorPattern);
  const names = [sides[0], sides.at(-1)].map((side = "") => wordsOf(side));
  return names.filter((name) => !namelessNames.has(name)).join(" ");
}

/** The same for every quantization and part of a model. */
function modelName(model: NamedFile): string {
  return wordsOf(stemOf(model).replace(/-\d{5}-of-\d{5}$/, ""));
}

function wordsOf(name: string): string {
  return withoutQuantization(name)
    .toLowerCase()
    .split(/[-._\s]+/)
    .filter((word) => word !== "")
    .join(" ");
}

function stemOf(file: NamedFile): string {
  return path.posix.basename(file.path).slice(0, -".gguf".length);
}

function folderOf(file: NamedFile): string {
  return path.posix.dirname(file.path);
}
