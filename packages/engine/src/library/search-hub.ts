// Searches the hub for repositories, and describes the models of one with the memory they will need.
import { EngineError } from "../base/errors.ts";
import { choiceName } from "./choose-quantization.ts";
import { groupGgufFiles } from "./gguf-files.ts";
import { searchHub, type HubSearchResult, type HubModel } from "./hub/hub-api.ts";
import { hubSettings } from "./hub/hub-settings.ts";
import { HubHttp } from "./hub/http.ts";
import { peekHubModel } from "./hub/peek-hub-model.ts";
import { memoryLimit, mustStayOffline, type LibraryOptions } from "./library-options.ts";
import { readGgufRepository } from "./locate.ts";
import { memoryNeed, type ModelFacts } from "./model-facts.ts";
import { parseModelSpec } from "./model-spec.ts";

export interface OfferedModel {
  id: string;
  quantization: string | null;
  /** The total size of its files, with the projector. */
  sizeBytes: number;
  hasProjector: boolean;
  /** An estimate for the defaults of `load()`. */
  memoryBytes: number;
  /** Whether this machine has enough memory. */
  fits: boolean;
}

export interface OfferedRepository {
  repo: string;
  license: string | null;
  isGated: boolean;
  /** From the header of one model; the models differ only in their quantization. */
  facts: ModelFacts;
  /** Smallest first. */
  models: OfferedModel[];
}

/** As many as a terminal shows at once. */
const resultsMaxDefault = 20;

/** GGUF repositories that match the words, most downloaded first. Throws `download_failed` or the signal's reason. */
export async function searchModels(
  words: string,
  options: LibraryOptions & { limit?: number | undefined } = {},
): Promise<HubSearchResult[]> {
  refuseOffline(options);
  using http = new HubHttp(hubSettings(options.env ?? process.env));
  return await searchHub(http, words, { ...options, limit: options.limit ?? resultsMaxDefault });
}

/**
 * The models of `org/repo`; the part of a model's id after a colon is ignored. Throws `invalid_request` for an invalid name,
 * `model_not_found`, `model_invalid`, `download_failed` or the signal's reason.
 */
export async function describeRepository(
  name: string,
  options: LibraryOptions = {},
): Promise<OfferedRepository> {
  const spec = parseModelSpec(name);
  if (spec.kind !== "hub") throw noRepository(name);
  const { repo } = spec;
  refuseOffline(options);
  using http = new HubHttp(hubSettings(options.env ?? process.env));
  const repository = await readGgufRepository(http, repo, options);
  const groups = groupGgufFiles(repository.files, "repository").toSorted((a, b) => a.sizeBytes - b.sizeBytes);
  const [smallest] = groups;
  if (smallest === undefined) throw new EngineError("model_not_found", `${repo} has no GGUF model.`);
  const facts = await peekHubModel(http, { repository, group: smallest }, options);
  const memory = memoryLimit(options);
  const models = groups.map((group) => {
    const memoryBytes = memoryNeed(group.sizeBytes, facts);
    return {
      id: `${repository.repo}:${choiceName(group, groups)}`,
      quantization: group.quantization ?? null,
      sizeBytes: group.sizeBytes + (group.mmproj?.sizeBytes ?? 0),
      hasProjector: group.mmproj !== undefined,
      memoryBytes,
      fits: memoryBytes <= memory,
    };
  });
  return {
    repo: repository.repo,
    license: repository.license ?? null,
    isGated: repository.isGated,
    facts,
    models,
  };
}

/** Facts from the header of a model on the hub; no weights are read. Throws as `describeRepository`. */
export async function describeModel(found: HubModel, options: LibraryOptions = {}): Promise<ModelFacts> {
  using http = new HubHttp(hubSettings(options.env ?? process.env));
  return await peekHubModel(http, found, options);
}

function noRepository(name: string): EngineError {
  const message = `"${name}" is not a repository of the hub. Write org/repo, such as LiquidAI/LFM2-350M-GGUF.`;
  return new EngineError("invalid_request", message, { details: { param: "repo" } });
}

function refuseOffline(options: LibraryOptions): void {
  if (!mustStayOffline(options)) return;
  throw new EngineError("download_failed", "The hub cannot be reached: Ingle was told to stay offline.");
}
