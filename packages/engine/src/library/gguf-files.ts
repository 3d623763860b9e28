// Finds the models in a list of file names: parts of one model are put together, and each gets its projector for images
// (projector-files.ts). Used for repositories of the hub and for folders of this machine. Pure.
import path from "node:path";
import { EngineError } from "../errors.ts";
import { isGgufName } from "./model-spec.ts";
import { isProjector, projectorFor, type ListKind } from "./projector-files.ts";
import { quantizationInName } from "./quantization.ts";

export interface ListedFile {
  /** With slashes between folders, relative to the repository or folder. */
  path: string;
  sizeBytes: number;
}

/** One model of a repository or folder. */
export interface FileGroup<File extends ListedFile> {
  /** The file's name without folder, part number and ".gguf". */
  stem: string;
  quantization: string | undefined;
  /** In order: one, or all parts of a split model. */
  files: File[];
  /** What it takes to look at images with this model; undefined where there is none. */
  mmproj: File | undefined;
  /** All of `files`, without the projector. */
  sizeBytes: number;
}

/** llama.cpp's own limit of parts. */
const partsMax = 999;
const partPattern = /-(\d{5})-of-(\d{5})$/;

/** Whole models only: a split model with a missing part is left out. In the order of the list, which is one of `kind`. */
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
      `${partOf(file.path).stem}/${partOf(file.path).count ?? "whole"}`,
    );
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  return [...groups.values()].flatMap((files) => {
    const ordered = files.toSorted((a, b) => partOf(a.path).number - partOf(b.path).number);
    const [first] = ordered;
    if (first === undefined || !isComplete(ordered)) return [];
    return [
      {
        stem: partOf(first.path).stem,
        quantization: quantizationInName(first.path.slice(0, -".gguf".length).replace(partPattern, "")),
        files: ordered,
        mmproj: projectorFor(first, { models, projectors, kind }),
        sizeBytes: ordered.reduce((sum, file) => sum + file.sizeBytes, 0),
      },
    ];
  });
}

/**
 * The names of all parts of a split model, given any of them; of another file its own name alone.
 * Throws `model_invalid` for numbers that make no sense.
 */
export function partNames(fileName: string): string[] {
  const { stem, number, count } = partOf(fileName);
  if (count === undefined) return [fileName];
  if (number < 1 || number > count || count > partsMax) {
    throw new EngineError("model_invalid", `${fileName} is no part of a model with up to ${partsMax} parts.`);
  }
  const ending = fileName.slice(-".gguf".length);
  const numeral = (value: number): string => `${value}`.padStart(5, "0");
  return Array.from(
    { length: count },
    (_, index) => `${stem}-${numeral(index + 1)}-of-${numeral(count)}${ending}`,
  );
}

interface Part {
  stem: string;
  number: number;
  /** Undefined for a file that is no part of a split model. */
  count: number | undefined;
}

function partOf(filePath: string): Part {
  const stem = path.posix.basename(filePath).slice(0, -".gguf".length);
  const match = partPattern.exec(stem);
  if (match === null) return { stem, number: 1, count: undefined };
  return { stem: stem.slice(0, match.index), number: Number(match[1]), count: Number(match[2]) };
}

function isComplete(files: readonly ListedFile[]): boolean {
  const [first] = files;
  if (first === undefined) return false;
  const { count } = partOf(first.path);
  if (count === undefined) return files.length === 1;
  return (
    count <= partsMax &&
    files.length === count &&
    files.every((file, index) => partOf(file.path).number === index + 1)
  );
}

/** Importance matrices and the like are GGUF files too, and nothing that could be loaded. */
function isHelper(filePath: string): boolean {
  return /(^|[-._])imatrix([-._]|$)/i.test(path.posix.basename(filePath));
}
