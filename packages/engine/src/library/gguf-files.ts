// Finds the models in the file list of a repository or folder: groups the parts of split models, and assigns projectors
// (projector-files.ts).
import path from "node:path";
import { EngineError } from "../base/errors.ts";
import { isGgufName } from "./model-spec.ts";
import { isProjector, projectorFor, type ListKind } from "./projector-files.ts";
import { quantizationInName } from "./quantization.ts";

export interface ListedFile {
  /** Relative to the repository or folder, with slashes. */
  path: string;
  sizeBytes: number;
}

/** One model of a repository or folder. */
export interface FileGroup<File extends ListedFile> {
  /** The file's name without folder, part number and ".gguf". */
  stem: string;
  quantization: string | undefined;
  /** One file, or all parts of a split model in order. */
  files: File[];
  /** The projector for images, if there is one. */
  mmproj: File | undefined;
  /** The size of `files`, without the projector. */
  sizeBytes: number;
}

/** llama.cpp's limit. */
const partsMax = 999;
const partPattern = /-(\d{5})-of-(\d{5})$/;

/** The models in the order of the list. Split models with a missing part are omitted. */
export function groupGgufFiles<File extends ListedFile>(
  listed: readonly File[],
  kind: ListKind,
): FileGroup<File>[] {
  const gguf = listed.filter((file) => isGgufName(file.path));
  const projectors = gguf.filter((file) => isProjector(file.path));
  const models = gguf.filter((file) => !isProjector(file.path) && !isHelper(file.path));
  const groups = new Map<string, File[]>();
  for (const file of models) {
    const key = path.posix.join(
      path.posix.dirname(file.path),
      `${parsePart(file.path).stem}/${parsePart(file.path).count ?? "whole"}`,
    );
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  const drafted = models.filter((file) => !isDraftName(parsePart(file.path).stem));
  return [...groups.values()].flatMap((files) => {
    const ordered = files.toSorted((a, b) => parsePart(a.path).number - parsePart(b.path).number);
    const [first] = ordered;
    if (first === undefined || !isComplete(ordered)) return [];
    return [
      {
        stem: parsePart(first.path).stem,
        quantization: quantizationInName(first.path.slice(0, -".gguf".length).replace(partPattern, "")),
        files: ordered,
        mmproj: projectorFor(first, { models: drafted, projectors, kind }),
        sizeBytes: ordered.reduce((sum, file) => sum + file.sizeBytes, 0),
      },
    ];
  });
}

/**
 * The names of all parts of a split model, given any of them; for another file, only its own name.
 * Throws `model_invalid` for impossible part numbers.
 */
export function partNames(fileName: string): string[] {
  const { stem, number, count } = parsePart(fileName);
  if (count === undefined) return [fileName];
  if (number < 1 || number > count || count > partsMax) {
    throw new EngineError(
      "model_invalid",
      `${fileName} has impossible part numbers; a model has at most ${partsMax} parts.`,
    );
  }
  const extension = fileName.slice(-".gguf".length);
  const numeral = (value: number): string => `${value}`.padStart(5, "0");
  return Array.from(
    { length: count },
    (_, index) => `${stem}-${numeral(index + 1)}-of-${numeral(count)}${extension}`,
  );
}

interface Part {
  stem: string;
  number: number;
  /** Undefined for a file that is not a part of a split model. */
  count: number | undefined;
}

function parsePart(filePath: string): Part {
  const stem = path.posix.basename(filePath).slice(0, -".gguf".length);
  const match = partPattern.exec(stem);
  if (match === null) return { stem, number: 1, count: undefined };
  return { stem: stem.slice(0, match.index), number: Number(match[1]), count: Number(match[2]) };
}

function isComplete(files: readonly ListedFile[]): boolean {
  const [first] = files;
  if (first === undefined) return false;
  const { count } = parsePart(first.path);
  if (count === undefined) return files.length === 1;
  return (
    count <= partsMax &&
    files.length === count &&
    files.every((file, index) => parsePart(file.path).number === index + 1)
  );
}

/** Whether a file of this stem drafts for the models beside it, as llama.cpp names such files. */
export function isDraftName(stem: string): boolean {
  return /^(mtp|eagle3|dflash|dspark)-/i.test(stem);
}

/** Importance matrices are GGUF files too, but not models. */
function isHelper(filePath: string): boolean {
  return /(^|[-._])imatrix([-._]|$)/i.test(path.posix.basename(filePath));
}
