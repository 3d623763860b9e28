// From what a person wrote to a model that is there, or to where it comes from. Asks the hub only for what is not there.
import { stat } from "node:fs/promises";
import path from "node:path";
import { isMlxFolder, isModelFile } from "@ingle/mlx";
import { EngineError } from "../errors.ts";
import { chooseModel, choiceName, preferred } from "./choose-quantization.ts";
import { groupGgufFiles, partNames, type FileGroup } from "./gguf-files.ts";
import { readRepository, type HubFile, type HubRepository } from "./hub/hub-api.ts";
import { hubSettings } from "./hub/hub-settings.ts";
import { HubHttp } from "./hub/http.ts";
import { listModels, type InstalledModel } from "./installed.ts";
import { memoryOf, mustStayOffline, type LibraryOptions } from "./library-options.ts";
import { folderId } from "./mlx/folder-id.ts";
import { mlxChoice, mlxRepository, type MlxRepository } from "./mlx/mlx-repository.ts";
import { listFiles } from "./model-folders.ts";
import { isGgufName, parseModelSpec, type ModelSpec } from "./model-spec.ts";
import type { NpmModel } from "./npm-model.ts";
import { starterModel } from "./starter.ts";

/** A model, and how it comes to be a file. `id` is its name in requests. */
export type LocatedModel =
  /** It is there. `path` is the file to load; `isListed`: under this id it is one of the library's. */
  | { kind: "here"; id: string; path: string; isListed: boolean }
  /** It lies in this folder of this machine in MLX's format; a GGUF file is made of it, or was already. */
  | { kind: "mlx"; id: string; folder: string }
  /** It lies on the hub in MLX's format. */
  | { kind: "mlx-hub"; id: string; found: MlxRepository }
  /** It lies on the hub. */
  | { kind: "hub"; id: string; found: HubModel }
  /** It travels through the npm registry; whether it is there already shows when it is fetched. */
  | { kind: "npm"; id: string; model: NpmModel };

/** One model of a repository on the hub, chosen among all of it. */
export interface HubModel {
  repository: HubRepository;
  group: FileGroup<HubFile>;
}

/**
 * Throws `model_not_found`, `invalid_request` (a name that fits several, or none that
 * can be meant), `out_of_memory` (no quantization was named and none fits), `download_failed`, `library_invalid` or the
 * signal's reason.
 */
export async function locateModel(text: string, options: LibraryOptions = {}): Promise<LocatedModel> {
  options.signal?.throwIfAborted();
  const spec = parseModelSpec(text, options.cwd);
  switch (spec.kind) {
    case "file":
      return await locateFile(spec.path, options);
    case "hub":
      try {
        return await locateOnHub(spec, options);
      } catch (error) {
        throw await withFolder(error, text, options);
      }
    case "npm":
      return await locatePackage(spec, options);
    case "name":
      return await locateByName(spec.name, options);
  }
}

async function locateFile(file: string, options: LibraryOptions): Promise<LocatedModel> {
  const stats = await stat(file).catch(() => undefined);
  if (stats === undefined) throw missing(`There is no file ${file}.`);
  if (stats.isDirectory()) return await locateInFolder(file, options);
  if (!isGgufName(file)) throw missing(await noGguf(file));
  return await locateParts(path.dirname(file), path.basename(file));
}

/** What to say of a file that is named for a model and is none, when it belongs to one as well. */
export async function noGguf(file: string): Promise<string> {
  const folder = path.dirname(file);
  const isPart = isModelFile(path.basename(file)) && (await isMlxFolder(folder));
  const where = isPart ? ` It belongs to the model in MLX's format in ${folder}: give that folder.` : "";
  return `${file} is not named like a GGUF file.${where}`;
}

/** Any part of a split model stands for the whole; the first one is what is loaded. */
async function locateParts(folder: string, name: string): Promise<LocatedModel> {
  const names = partNames(name);
  const [first = name] = names;
  for (const part of names) {
    const stats = await stat(path.join(folder, part)).catch(() => undefined);
    if (stats?.isFile() !== true)
      throw missing(`${name} is a part of a split model, and ${path.join(folder, part)} is missing.`);
  }
  const id = path.parse(first).name.replace(names.length > 1 ? /-\d{5}-of-\d{5}$/ : "", "");
  return { kind: "here", id, path: path.join(folder, first), isListed: false };
}

async function locateInFolder(folder: string, { env }: LibraryOptions): Promise<LocatedModel> {
  if (await isMlxFolder(folder)) return { kind: "mlx", id: await folderId(folder, env), folder };
  const groups = groupGgufFiles(await listFiles(folder), "folder");
  const [first, second] = groups;
  if (first === undefined) throw missing(`${folder} holds no GGUF model.`);
  if (second !== undefined) {
    const names = groups.map((group) => group.files[0]?.path ?? "").join(", ");
    throw new EngineError(
      "invalid_request",
      `${folder} holds several models: ${names}. Give the path of one.`,
    );
  }
  return {
    kind: "here",
    id: first.stem,
    path: path.join(folder, first.files[0]?.path ?? ""),
    isListed: false,
  };
}

async function locateOnHub(
  spec: Extract<ModelSpec, { kind: "hub" }>,
  options: LibraryOptions,
): Promise<LocatedModel> {
  const here = installedOf(spec, await listModels(options), memoryOf(options));
  if (here !== undefined) return { kind: "here", id: here.id, path: here.path, isListed: true };
  if (mustStayOffline(options))
    throw offline(spec.choice === undefined ? spec.repo : `${spec.repo}:${spec.choice}`);
  using http = new HubHttp(hubSettings(options.env ?? process.env));
  const repository = await readRepository(http, spec.repo, options);
  const mlx =
    groupGgufFiles(repository.files, "repository").length === 0 ? mlxRepository(repository) : undefined;
  if (mlx !== undefined) return locateMlx(mlx, spec);
  return locateGguf(await ggufRepository(http, repository, options), spec, options);
}

/** The error, with a word on the folder of the same name that may have been meant. */
async function withFolder(error: unknown, text: string, { cwd = "." }: LibraryOptions): Promise<unknown> {
  const stats = await stat(path.resolve(cwd, text)).catch(() => undefined);
  if (!EngineError.is(error) || stats?.isDirectory() !== true) return error;
  const message = `${error.message} There is a folder ${text} here; write ./${text} for that.`;
  return new EngineError(error.code, message, { cause: error, details: error.details });
}

/** Of such a repository there is one model, whatever it is called. */
function locateMlx(found: MlxRepository, { choice }: Extract<ModelSpec, { kind: "hub" }>): LocatedModel {
  const { repo } = found.repository;
  const id = `${repo}:${mlxChoice}`;
  if (choice === undefined || choice.toUpperCase() === mlxChoice) return { kind: "mlx-hub", id, found };
  const message = `${repo} is a build for MLX and has no model "${choice}". Write ${repo} alone.`;
  throw new EngineError("model_not_found", message, { details: { repo, choice } });
}

function locateGguf(
  repository: HubRepository,
  spec: Extract<ModelSpec, { kind: "hub" }>,
  options: LibraryOptions,
): LocatedModel {
  const groups = groupGgufFiles(repository.files, "repository");
  const group = chooseModel(groups, {
    repo: repository.repo,
    choice: spec.choice,
    memoryBytes: memoryOf(options),
  });
  return { kind: "hub", id: `${repository.repo}:${choiceName(group, groups)}`, found: { repository, group } };
}

/** The repository, or the one beside it that holds the same model as GGUF, where this one holds the original weights. */
export async function readGgufRepository(
  http: HubHttp,
  repo: string,
  options: LibraryOptions,
): Promise<HubRepository> {
  return await ggufRepository(http, await readRepository(http, repo, options), options);
}

async function ggufRepository(
  http: HubHttp,
  repository: HubRepository,
  options: LibraryOptions,
): Promise<HubRepository> {
  if (groupGgufFiles(repository.files, "repository").length > 0) return repository;
  const beside = repository.repo.endsWith(ggufEnding) ? undefined : `${repository.repo}${ggufEnding}`;
  if (beside !== undefined) {
    try {
      return await readRepository(http, beside, options);
    } catch (error) {
      if (!EngineError.is(error) || error.code !== "model_not_found") throw error;
    }
  }
  const message = `${repository.repo} holds no GGUF model. ${whatElse(repository)}Look for another repository with \`ingle search\`.`;
  throw new EngineError("model_not_found", message, { details: { repo: repository.repo } });
}

function whatElse(repository: HubRepository): string {
  if (mlxRepository(repository) !== undefined)
    return `It is a build for MLX; \`ingle pull ${repository.repo}\` fetches and converts it. `;
  const isOriginal = repository.files.some((file) => file.path.endsWith(".safetensors"));
  return isOriginal ? "Its weights are safetensors as their makers trained them, not a build to run. " : "";
}

/** How repositories that hold a model as GGUF are called by custom. */
const ggufEnding = "-GGUF";

/** What of the repository is there. Without a quantization, what is there wins over what would be downloaded. */
function installedOf(
  { repo, choice }: Extract<ModelSpec, { kind: "hub" }>,
  models: readonly InstalledModel[],
  memoryBytes: number,
): InstalledModel | undefined {
  for (const candidate of [repo, `${repo}${ggufEnding}`]) {
    const prefix = `${candidate}:`.toLowerCase();
    const own = models.filter(({ id }) => id.toLowerCase().startsWith(prefix));
    const wanted = own.filter((model) => choice === undefined || isCalled(model, choice.toLowerCase()));
    const found = preferred(wanted, memoryBytes) ?? wanted[0];
    if (found !== undefined) return found;
  }
  return undefined;
}

function isCalled({ id, quantization }: InstalledModel, choice: string): boolean {
  return id.toLowerCase().endsWith(`:${choice}`) || quantization?.toLowerCase() === choice;
}

async function locatePackage(
  { name, version }: Extract<ModelSpec, { kind: "npm" }>,
  options: LibraryOptions,
): Promise<LocatedModel> {
  const id = `npm:${name}@${version}`;
  const here = (await listModels(options)).find((model) => model.id === id);
  if (here !== undefined) return { kind: "here", id, path: here.path, isListed: true };
  if (mustStayOffline(options)) throw offline(id);
  const { describePackage } = await import("./npm-package.ts");
  return { kind: "npm", id, model: await describePackage({ name, version }, options) };
}

/** An alias or id of what is there, or the starter model. */
async function locateByName(name: string, options: LibraryOptions): Promise<LocatedModel> {
  const models = await listModels(options);
  const here = models.find(({ id }) => id === name) ?? models.find(({ aliases }) => aliases.includes(name));
  if (here !== undefined) return { kind: "here", id: here.id, path: here.path, isListed: true };
  if (name === starterModel.id) {
    if (mustStayOffline(options)) throw offline(name);
    return { kind: "npm", id: name, model: starterModel };
  }
  throw missing(`There is no model called "${name}" here. \`ingle list\` shows what is.`);
}

function missing(what: string): EngineError {
  const possible =
    "A model is the path of a .gguf file or of a folder with one model, org/repo:QUANT on the hub, " +
    "npm:package@version, an alias of yours, or " +
    `"${starterModel.id}".`;
  return new EngineError("model_not_found", `${what} ${possible}`);
}

function offline(wanted: string): EngineError {
  const message = `${wanted} is not on this machine, and Ingle was told to stay offline. \`ingle list\` shows what is there.`;
  return new EngineError("model_not_found", message, { details: { wanted } });
}
