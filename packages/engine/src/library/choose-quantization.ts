// Chooses one of a repository's models: the named one, else Q4_K_M, else the best that fits into memory.
import { EngineError } from "../base/errors.ts";
import { formatBytes } from "../base/memory-bytes.ts";
import { isDraftName, type FileGroup, type ListedFile } from "./gguf-files.ts";
import { quantizationDefault } from "./quantization.ts";

/** The share of memory that weights may take; the rest is for the system, the context and compute buffers. */
const weightsShareMax = 0.75;

/**
 * Throws `model_not_found` if there is no such model (naming those there are), `invalid_request` if several match the name, and
 * `out_of_memory` if none was named and none fits.
 */
export function chooseModel<File extends ListedFile>(
  groups: readonly FileGroup<File>[],
  { repo, choice, memoryBytes }: { repo: string; choice: string | undefined; memoryBytes: number },
): FileGroup<File> {
  if (choice !== undefined) return named(groups, repo, choice);
  const found = pickPreferred(modelsAmong(groups), memoryBytes);
  if (found?.quantization === quantizationDefault) return named(groups, repo, quantizationDefault);
  if (found !== undefined) return found;
  const smallest = modelsAmong(groups).toSorted((a, b) => a.sizeBytes - b.sizeBytes)[0];
  if (smallest === undefined) throw nothing(repo);
  throw tooLarge(repo, smallest, memoryBytes);
}

/** Q4_K_M if it fits into memory, else the best that does; undefined if none fits. */
export function pickPreferred<Model extends { quantization: string | null | undefined; sizeBytes: number }>(
  models: readonly Model[],
  memoryBytes: number,
): Model | undefined {
  const weightsMax = memoryBytes * weightsShareMax;
  const fitting = models.filter((model) => model.sizeBytes <= weightsMax);
  const usual = fitting.find((model) => model.quantization === quantizationDefault);
  // A larger file keeps more of the original model, whatever its name.
  return usual ?? fitting.toSorted((a, b) => b.sizeBytes - a.sizeBytes)[0];
}

/** The part of a model's id after the colon: its quantization if that is unique, else its file's name. */
export function choiceName<File extends ListedFile>(
  group: FileGroup<File>,
  groups: readonly FileGroup<File>[],
): string {
  const { quantization, stem } = group;
  const alike = modelsAmong(groups).filter((other) => other.quantization === quantization);
  return quantization !== undefined && alike.length === 1 && alike[0] === group ? quantization : stem;
}

/** Without those that draft for the others: these are chosen by the name of their file. All of them if there are no others. */
function modelsAmong<File extends ListedFile>(
  groups: readonly FileGroup<File>[],
): readonly FileGroup<File>[] {
  const models = groups.filter(({ stem }) => !isDraftName(stem));
  return models.length > 0 ? models : groups;
}

function named<File extends ListedFile>(
  groups: readonly FileGroup<File>[],
  repo: string,
  choice: string,
): FileGroup<File> {
  const wanted = choice.toLowerCase();
  const byStem = groups.filter((group) => group.stem.toLowerCase() === wanted);
  if (byStem.length > 0) return only(byStem, repo, choice);
  const byQuantization = modelsAmong(groups).filter((group) => group.quantization?.toLowerCase() === wanted);
  if (byQuantization.length > 0) return only(byQuantization, repo, choice);
  if (groups.length === 0) throw nothing(repo);
  const there = groups.map((group) => choiceName(group, groups)).join(", ");
  const message = `${repo} has no model "${choice}". It has ${there}; write one of them after the colon.`;
  throw new EngineError("model_not_found", message, { details: { repo, choice } });
}

function only<File extends ListedFile>(
  groups: readonly FileGroup<File>[],
  repo: string,
  choice: string,
): FileGroup<File> {
  const [first, second] = groups;
  if (first === undefined) throw nothing(repo);
  if (second === undefined) return first;
  const names = groups.map((group) => `${repo}:${group.stem}`).join(", ");
  const message = `${repo} has several models called ${choice}. Choose one: ${names}.`;
  throw new EngineError("invalid_request", message, { details: { repo, choice } });
}

function nothing(repo: string): EngineError {
  const message = `${repo} has no GGUF model. Find another repository with \`ingle search\`.`;
  return new EngineError("model_not_found", message, { details: { repo } });
}

function tooLarge(repo: string, smallest: FileGroup<ListedFile>, memoryBytes: number): EngineError {
  const name = smallest.quantization ?? smallest.stem;
  const message =
    `The smallest model of ${repo}, ${name}, has ${formatBytes(smallest.sizeBytes)}, and this machine has ` +
    `${formatBytes(memoryBytes)} of memory. Choose a smaller model, or name its quantization (${repo}:${name}) to try anyway.`;
  return new EngineError("out_of_memory", message, {
    details: { repo, sizeBytes: smallest.sizeBytes, memoryBytes },
  });
}
