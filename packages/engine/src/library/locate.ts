// Finds a model by what the user wrote: an installed one, or its source. The hub is only asked for missing models.
import { stat } from "node:fs/promises";
import path from "node:path";
import { isMlxFolder, isModelFile } from "@ingle/mlx";
import { EngineError } from "../base/errors.ts";
import { adapterFile, adapterFolder, type AdapterRepository } from "./adapters/adapter-repository.ts";
import { chooseModel, choiceName, pickPreferred } from "./choose-quantization.ts";
import { groupGgufFiles, partNames } from "./gguf-files.ts";
import { readRepository, type HubModel, type HubRepository } from "./hub/hub-api.ts";
import { hubSettings } from "./hub/hub-settings.ts";
import { HubHttp } from "./hub/http.ts";
import { findInstalled, listModels, type InstalledAdapter, type InstalledModel } from "./installed.ts";
import { memoryLimit, mustStayOffline, type LibraryOptions } from "./library-options.ts";
import { folderId, mlxChoice, mlxRepository, type MlxRepository } from "./mlx/mlx-model.ts";
import { listFiles } from "./model-folders.ts";
import { isGgufName, parseModelSpec, type ModelSpec } from "./model-spec.ts";
import { type NpmModel, starterModel } from "./npm-model.ts";
import { fileBytes } from "./durable-files.ts";
import { resolveUserPath } from "../base/home.ts";

/** A model and its source. `id` is its name in requests. */
export type LocatedModel =
  /** A file on this machine. `isListed`: whether it is in the library under this id. */
  | { kind: "file"; id: string; path: string; isListed: boolean }
  /** A folder on this machine in MLX's format, to be converted to GGUF unless it already was. */
  | { kind: "mlx"; id: string; folder: string }
  /** A repository of the hub in MLX's format. */
  | { kind: "mlx-hub"; id: string; found: MlxRepository }
  /** A repository of the hub. */
  | { kind: "hub"; id: string; found: HubModel }
  /** A LoRA adapter or a control vector, in a repository of the hub or installed from it. */
  | { kind: "adapter"; id: string; found: AdapterRepository | InstalledAdapter }
  /** Packages of the npm registry; fetching checks whether they were already downloaded. */
  | { kind: "npm"; id: string; model: NpmModel };

/**
 * The absolute path that a text means, if it is no name. The path of an existing file need not end in `.gguf`: the names of cached files
 * do not.
 */
export async function findLocalPath(text: string): Promise<string | undefined> {
  const resolved = resolveUserPath(text);
  const isPath = parseModelSpec(text).kind === "file" || (await fileBytes(resolved)) !== undefined;
  return isPath ? resolved : undefined;
}

/**
 * Throws `model_not_found`, `invalid_request` (an ambiguous or invalid name), `out_of_memory` (no quantization was named and none
 * fits), `download_failed`, `library_invalid` or the signal's reason.
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
  if (!isGgufName(file)) throw missing(await notGgufMessage(file));
  return await locateParts(path.dirname(file), path.basename(file));
}

/** The error message for a file that is not a GGUF file, but may be part of a model in MLX's format. */
export async function notGgufMessage(file: string): Promise<string> {
  const folder = path.dirname(file);
  const isPart = isModelFile(path.basename(file)) && (await isMlxFolder(folder));
  const advice = isPart ? ` It belongs to the model in MLX's format in ${folder}: give that folder.` : "";
  return `${file} is not named like a GGUF file.${advice}`;
}

/** Any part of a split model means the whole model; the first part is loaded. */
async function locateParts(folder: string, name: string): Promise<LocatedModel> {
  const names = partNames(name);
  const [first = name] = names;
  for (const part of names) {
    const stats = await stat(path.join(folder, part)).catch(() => undefined);
    if (stats?.isFile() !== true)
      throw missing(`${name} is a part of a split model, but ${path.join(folder, part)} is missing.`);
  }
  const id = path.parse(first).name.replace(names.length > 1 ? /-\d{5}-of-\d{5}$/ : "", "");
  return { kind: "file", id, path: path.join(folder, first), isListed: false };
}

async function locateInFolder(folder: string, { env }: LibraryOptions): Promise<LocatedModel> {
  if (await isMlxFolder(folder)) return { kind: "mlx", id: await folderId(folder, env), folder };
  const groups = groupGgufFiles(await listFiles(folder), "folder");
  const [first, second] = groups;
  if (first === undefined) throw missing(`${folder} has no GGUF model.`);
  if (second !== undefined) {
    const names = groups.map((group) => group.files[0]?.path ?? "").join(", ");
    throw new EngineError("invalid_request", `${folder} has several models: ${names}. Give the path of one.`);
  }
  return {
    kind: "file",
    id: first.stem,
    path: path.join(folder, first.files[0]?.path ?? ""),
    isListed: false,
  };
}

async function locateOnHub(
  spec: Extract<ModelSpec, { kind: "hub" }>,
  options: LibraryOptions,
): Promise<LocatedModel> {
  const here = findInstalledBuild(spec, await listModels(options), memoryLimit(options));
  if (here !== undefined) return listed(here);
  const adapter = await findInstalledAdapter(spec, options);
  if (adapter !== undefined) return { kind: "adapter", id: adapter.id, found: adapter };
  if (mustStayOffline(options))
    throw offline(spec.choice === undefined ? spec.repo : `${spec.repo}:${spec.choice}`);
  using http = new HubHttp(hubSettings(options.env ?? process.env));
  const repository = await readRepository(http, spec.repo, options);
  const folder = adapterFolder(repository);
  if (folder !== undefined) return { kind: "adapter", id: repository.repo, found: folder };
  const mlx =
    groupGgufFiles(repository.files, "repository").length === 0 ? mlxRepository(repository) : undefined;
  if (mlx !== undefined) return locateMlx(mlx, spec);
  const located = locateGguf(await ggufRepository(http, repository, options), spec, options);
  const file = await adapterFile(http, located.found, options);
  return file === undefined ? located : { kind: "adapter", id: repository.repo, found: file };
}

/** An installed adapter of the repository. */
async function findInstalledAdapter(
  { repo, choice }: Extract<ModelSpec, { kind: "hub" }>,
  options: LibraryOptions,
): Promise<InstalledAdapter | undefined> {
  if (choice !== undefined) return undefined;
  const installed = (await listModels(options)).flatMap(({ adapters }) => adapters);
  return installed.find((adapter) => adapter.repo.toLowerCase() === repo.toLowerCase());
}

/** Adds to the error that there is a folder of the same name, which may have been meant. */
async function withFolder(error: unknown, text: string, { cwd = "." }: LibraryOptions): Promise<unknown> {
  const stats = await stat(path.resolve(cwd, text)).catch(() => undefined);
  if (!EngineError.is(error) || stats?.isDirectory() !== true) return error;
  const message = `${error.message} There is a folder ${text} here; write ./${text} for that.`;
  return new EngineError(error.code, message, { cause: error, details: error.details });
}

/** Such a repository has only one model. */
function locateMlx(found: MlxRepository, { choice }: Extract<ModelSpec, { kind: "hub" }>): LocatedModel {
  const { repo } = found.repository;
  const id = `${repo}:${mlxChoice}`;
  if (choice === undefined || choice.toUpperCase() === mlxChoice) return { kind: "mlx-hub", id, found };
  const message = `${repo} is a build for MLX and has no model "${choice}". Write only ${repo}.`;
  throw new EngineError("model_not_found", message, { details: { repo, choice } });
}

function locateGguf(
  repository: HubRepository,
  spec: Extract<ModelSpec, { kind: "hub" }>,
  options: LibraryOptions,
): Extract<LocatedModel, { kind: "hub" }> {
  const groups = groupGgufFiles(repository.files, "repository");
  const group = chooseModel(groups, {
    repo: repository.repo,
    choice: spec.choice,
    memoryBytes: memoryLimit(options),
  });
  return { kind: "hub", id: `${repository.repo}:${choiceName(group, groups)}`, found: { repository, group } };
}

/** The repository; or, if it has original weights, the one of the same name that has the model as GGUF. */
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
  const sibling = repository.repo.endsWith(ggufSuffix) ? undefined : `${repository.repo}${ggufSuffix}`;
  if (sibling !== undefined) {
    try {
      return await readRepository(http, sibling, options);
    } catch (error) {
      if (!EngineError.is(error) || error.code !== "model_not_found") throw error;
    }
  }
  const message = `${repository.repo} has no GGUF model. ${otherContents(repository)}Find another repository with \`ingle search\`.`;
  throw new EngineError("model_not_found", message, { details: { repo: repository.repo } });
}

function otherContents(repository: HubRepository): string {
  if (mlxRepository(repository) !== undefined)
    return `It is a build for MLX; \`ingle pull ${repository.repo}\` downloads and converts it. `;
  if (adapterFolder(repository) !== undefined)
    return `It is a LoRA adapter; \`ingle pull ${repository.repo}\` installs it beside its model. `;
  const isOriginal = repository.files.some((file) => file.path.endsWith(".safetensors"));
  return isOriginal ? "It has the original weights as safetensors, not a build to run. " : "";
}

/** The usual suffix of repositories with GGUF files. */
const ggufSuffix = "-GGUF";

/** An installed model of the repository. Without a quantization, any installed one is preferred to a download. */
function findInstalledBuild(
  { repo, choice }: Extract<ModelSpec, { kind: "hub" }>,
  models: readonly InstalledModel[],
  memoryBytes: number,
): InstalledModel | undefined {
  for (const candidate of [repo, `${repo}${ggufSuffix}`]) {
    const prefix = `${candidate}:`.toLowerCase();
    const own = models.filter(({ id }) => id.toLowerCase().startsWith(prefix));
    const matching = own.filter((model) => choice === undefined || isChoice(model, choice.toLowerCase()));
    const found = pickPreferred(matching, memoryBytes) ?? matching[0];
    if (found !== undefined) return found;
  }
  return undefined;
}

function isChoice({ id, quantization }: InstalledModel, choice: string): boolean {
  return id.toLowerCase().endsWith(`:${choice}`) || quantization?.toLowerCase() === choice;
}

async function locatePackage(
  { name, version }: Extract<ModelSpec, { kind: "npm" }>,
  options: LibraryOptions,
): Promise<LocatedModel> {
  const id = `npm:${name}@${version}`;
  const here = (await listModels(options)).find((model) => model.id === id);
  if (here !== undefined) return listed(here);
  if (mustStayOffline(options)) throw offline(id);
  const { describePackage } = await import("./npm-package.ts");
  return { kind: "npm", id, model: await describePackage({ name, version }, options) };
}

/** An installed model by alias or id, or the starter model. */
async function locateByName(name: string, options: LibraryOptions): Promise<LocatedModel> {
  const here = await findInstalled(name, options);
  if (here !== undefined) return listed(here);
  if (name === starterModel.id) {
    if (mustStayOffline(options)) throw offline(name);
    return { kind: "npm", id: name, model: starterModel };
  }
  throw missing(`There is no model called "${name}" here. \`ingle list\` shows the installed ones.`);
}

function listed({ id, path: file }: InstalledModel): LocatedModel {
  return { kind: "file", id, path: file, isListed: true };
}

function missing(what: string): EngineError {
  const possible =
    "A model is the path of a .gguf file or of a folder with one model, org/repo:QUANT on the hub, " +
    "npm:package@version, an alias, or " +
    `"${starterModel.id}".`;
  return new EngineError("model_not_found", `${what} ${possible}`);
}

function offline(wanted: string): EngineError {
  const message = `${wanted} is not on this machine, and Ingle was told to stay offline. \`ingle list\` shows the installed models.`;
  return new EngineError("model_not_found", message, { details: { wanted } });
}
