// What the hub has: repositories that match words, and the models of one repository with what they will need. Used by
// `ingle search`, and by `ingle pull` before it fetches anything.
import { EngineError } from "../errors.ts";
import { choiceName } from "./choose-quantization.ts";
import { groupGgufFiles } from "./gguf-files.ts";
import { searchHub, type HubSearchResult } from "./hub/hub-api.ts";
import { hubSettings } from "./hub/hub-settings.ts";
import { HubHttp } from "./hub/http.ts";
import { readRange as readRemote, RemoteFile } from "./hub/remote-file.ts";
import { memoryOf, mustStayOffline, type LibraryOptions } from "./library-options.ts";
import { readGgufRepository, type HubModel } from "./locate.ts";
import { memoryNeed, peekFacts, type ModelFacts } from "./model-facts.ts";
import { parseModelSpec } from "./model-spec.ts";
import { retry, smallFailuresMax } from "./retry.ts";

/** One model of a repository. */
export interface OfferedModel {
  id: string;
  quantization: string | null;
  /** Of all its files, with the projector for images. */
  sizeBytes: number;
  hasProjector: boolean;
  /** With the defaults of `load()`: an estimate. */
  memoryBytes: number;
  /** Whether this machine has so much memory. */
  fits: boolean;
}

export interface OfferedRepository {
  repo: string;
  license: string | null;
  isGated: boolean;
  /** What one of the models' headers says; they differ in their quantization alone. */
  facts: ModelFacts;
  /** The smallest first. */
  models: OfferedModel[];
}

/** More than a terminal shows at once is found by better words. */
const resultsMaxDefault = 20;

/** GGUF repositories that match the words, the most downloaded first. Throws `download_failed` or the signal's reason. */
export async function searchModels(
  words: string,
  options: LibraryOptions & { limit?: number | undefined } = {},
): Promise<HubSearchResult[]> {
  refuseOffline(options);
  using http = new HubHttp(hubSettings(options.env ?? process.env));
  return await searchHub(http, words, { ...options, limit: options.limit ?? resultsMaxDefault });
}

/**
 * The models of `org/repo`; what stands behind a colon, as in a model's id, is passed over. Throws `invalid_request` for what
 * is no repository's name, `model_not_found`, `model_invalid`, `download_failed` or the signal's reason.
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
  if (smallest === undefined) throw new EngineError("model_not_found", `${repo} holds no GGUF model.`);
  const facts = await peekHubModel(http, { repository, group: smallest }, options);
  const memory = memoryOf(options);
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

/** What the header of a model on the hub says, read before a byte of its weights. Throws as `describeRepository` does. */
export async function describeModel(found: HubModel, options: LibraryOptions = {}): Promise<ModelFacts> {
  using http = new HubHttp(hubSettings(options.env ?? process.env));
  return await peekHubModel(http, found, options);
}

async function peekHubModel(
  http: HubHttp,
  { repository, group }: HubModel,
  options: LibraryOptions,
): Promise<ModelFacts> {
  const { signal, wait } = options;
  const { path = "", sizeBytes = 0 } = group.files[0] ?? {};
  const remote = new RemoteFile(http, { repo: repository.repo, commit: repository.commit, path });
  const readRange = async (start: number, end: number): Promise<Uint8Array> => {
    const until = Math.min(end, sizeBytes);
    if (start >= until) return new Uint8Array(0);
    return await retry(() => readRemote(remote, { start, end: until, signal }), {
      failuresMax: smallFailuresMax,
      wait,
      signal,
    });
  };
  const facts = await peekFacts(`${repository.repo}/${path}`, readRange);
  return { ...facts, quantization: facts.quantization ?? group.quantization };
}

function noRepository(name: string): EngineError {
  const message = `"${name}" is no repository of the hub. Write org/repo, such as LiquidAI/LFM2-350M-GGUF.`;
  return new EngineError("invalid_request", message, { details: { param: "repo" } });
}

function refuseOffline(options: LibraryOptions): void {
  if (!mustStayOffline(options)) return;
  throw new EngineError("download_failed", "The hub cannot be asked: Ingle was told to stay offline.");
}
