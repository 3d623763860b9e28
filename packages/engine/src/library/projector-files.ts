// Finds the projector of a model by the usual names.
//
//   mmproj-F16.gguf, mmproj-model-f16.gguf, mmproj.gguf      names no model
//   mmproj-NAME-f16.gguf, NAME-mmproj-f16.gguf, NAME.mmproj-Q8_0.gguf
//   org_repo_mmproj-….gguf                                   in llama.cpp's own folder, next to org_repo_….gguf
import path from "node:path";
import { quantizationInName, withoutQuantization } from "./quantization.ts";

interface NamedFile {
  /** Relative to the repository or folder, with slashes. */
  path: string;
}

/** `repository`: the files of one model, whatever their names. `folder`: any files. */
export type ListKind = "repository" | "folder";

/** A projector's quantization matters little, but its size does; F16 is what model makers use for measurements. */
const quantizationOrder = ["F16", "BF16", "Q8_0", "F32"];
const projectorPattern = /(^|[-._])mmproj([-._]|$)/i;
/** Default names of tools, which do not name a model. */
const namelessNames = new Set(["", "model", "ggml model"]);

export function isProjector(filePath: string): boolean {
  return projectorPattern.test(path.posix.basename(filePath));
}

/**
 * A projector in the model's own folder or at the top of the list: one that is named like the model; or one that is named like
 * no listed model, if all of them are quantizations of one model.
 */
export function projectorFor<File extends NamedFile>(
  model: NamedFile,
  { models, projectors, kind }: { models: readonly NamedFile[]; projectors: readonly File[]; kind: ListKind },
): File | undefined {
  const beside = projectors.filter((file) => parentFolder(file) === parentFolder(model));
  const near = beside.length > 0 ? beside : projectors.filter((file) => parentFolder(file) === ".");
  const named = near.filter((file) => isNamedLike(file, model));
  if (named.length > 0) return best(named);
  const others =
    beside.length > 0 ? models.filter((file) => parentFolder(file) === parentFolder(model)) : models;
  const isOneModel = kind === "repository" || new Set(others.map(modelName)).size <= 1;
  return isOneModel
    ? best(near.filter((file) => !others.some((other) => isNamedLike(file, other))))
    : undefined;
}

/** The projector with the longest name; among equals, the first by `quantizationOrder`. */
function best<File extends NamedFile>(files: readonly File[]): File | undefined {
  const length = Math.max(...files.map((file) => modelInName(file).length));
  const rank = (file: File): number => {
    const index = quantizationOrder.indexOf(quantizationInName(fileStem(file)) ?? "");
    return index === -1 ? quantizationOrder.length : index;
  };
  return files.filter((file) => modelInName(file).length === length).toSorted((a, b) => rank(a) - rank(b))[0];
}

/** Compares whole words: `mmproj-lfm2-vl-1.gguf` does not belong to `lfm2-vl-1b`. */
function isNamedLike(projector: NamedFile, model: NamedFile): boolean {
  const subject = modelInName(projector);
  return subject !== "" && `${modelName(model)} `.startsWith(`${subject} `);
}

/** The model in a projector's name: the text before and after "mmproj". Empty if it names none. */
function modelInName(projector: NamedFile): string {
  const sides = fileStem(projector).split(projectorPattern);
  const names = [sides[0], sides.at(-1)].map((side = "") => toWords(side));
  return names.filter((name) => !namelessNames.has(name)).join(" ");
}

/** The same for every quantization and part of a model. */
function modelName(model: NamedFile): string {
  return toWords(fileStem(model).replace(/-\d{5}-of-\d{5}$/, ""));
}

function toWords(name: string): string {
  return withoutQuantization(name)
    .toLowerCase()
    .split(/[-._\s]+/)
    .filter((word) => word !== "")
    .join(" ");
}

function fileStem(file: NamedFile): string {
  return path.posix.basename(file.path).slice(0, -".gguf".length);
}

function parentFolder(file: NamedFile): string {
  return path.posix.dirname(file.path);
}
