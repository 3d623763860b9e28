// Which model is taken where nobody named one: the one that was used last; where there is none, a small one of the hub that
// this machine has room for; where the hub is silent, the starter model. Used by the command line of the server.
import { EngineError } from "../errors.ts";
import { listModels, type InstalledModel } from "./installed.ts";
import { memoryOf, mustStayOffline, type LibraryOptions } from "./library-options.ts";
import { locateModel, type LocatedModel } from "./locate.ts";
import { readManifest } from "./manifest.ts";
import { memoryNeed, peekFile } from "./model-facts.ts";
import { libraryPaths } from "./paths.ts";
import { describeModel } from "./search-hub.ts";
import { starterModel } from "./starter.ts";

/** The model, why it was taken, and what was passed over. */
export type DefaultModel = {
  located: LocatedModel;
  /** Ids of models that were used later than this one and are gone, or damaged; the last one used first. */
  lost: readonly string[];
} & (
  | { reason: "used-last" }
  /** None has been used yet: the one that was added last. */
  | { reason: "added-last" }
  /** Nothing is here: the largest recommended model that the memory has room for. */
  | { reason: "recommended" }
  | { reason: "starter"; insteadOf: PassedOver }
);

/** Why it is the starter model and none of the hub's: `repo` is what would have been taken. */
export type PassedOver =
  | { why: "offline"; repo: string | undefined }
  | { why: "silent"; repo: string; afterMs: number }
  /** The hub answered with this. */
  | { why: "refused"; repo: string; error: EngineError }
  | { why: "memory" };

export interface DefaultModelOptions extends LibraryOptions {
  /** Milliseconds in which the hub must have said all that is asked of it. Default 3,000. */
  hubAnswerMaxMs?: number | undefined;
}

/** Longer than a healthy network takes, and no longer than a person waits for a first answer without wondering. */
const hubAnswerMaxMs = 3_000;

/** Of all the memory, for a model that nobody chose: the rest is for the system and for what else the person runs. */
const memoryShareMax = 0.5;

/** Instruct models for small machines, the most able first, and about what each needs; its header tells that exactly. */
const recommended = [
  { repo: "LiquidAI/LFM2-2.6B-GGUF", aboutBytes: 2.4e9 },
  { repo: "LiquidAI/LFM2-1.2B-GGUF", aboutBytes: 1.4e9 },
  { repo: "LiquidAI/LFM2-700M-GGUF", aboutBytes: 1.15e9 },
  { repo: "LiquidAI/LFM2-350M-GGUF", aboutBytes: 0.9e9 },
];
/** Below it answers become much worse, above it downloads longer. */
const recommendedQuantization = "Q4_K_M";

/**
 * Looks at what is here, and asks the hub only where that is nothing. Fetches no model. Throws `model_not_found` (nothing is
 * here, and nobody may be asked), `invalid_request` (the hub's settings), `library_invalid` or the signal's reason.
 */
export async function defaultModel(options: DefaultModelOptions = {}): Promise<DefaultModel> {
  options.signal?.throwIfAborted();
  const { found, lost } = await ownModel(options);
  if (found !== undefined) {
    const { model, reason } = found;
    return { reason, lost, located: { kind: "here", id: model.id, path: model.path, isListed: true } };
  }
  const fromHub = await modelOfHub(options);
  if ("located" in fromHub) return { reason: "recommended", lost, ...fromHub };
  return { reason: "starter", lost, insteadOf: fromHub, located: await starter(options, lost) };
}

interface Own {
  found: { model: InstalledModel; reason: "used-last" | "added-last" } | undefined;
  lost: string[];
}

async function ownModel(options: LibraryOptions): Promise<Own> {
  const { lastUsed } = await readManifest(libraryPaths(options.env));
  const models = await listModels(options);
  const lost: string[] = [];
  const latestFirst = Object.entries(lastUsed).toSorted(([, a], [, b]) => Date.parse(b) - Date.parse(a));
  for (const [id] of latestFirst) {
    const model = models.find((candidate) => candidate.id === id);
    const answers = model === undefined ? undefined : await canAnswer(model);
    if (model === undefined || answers === undefined) lost.push(id);
    else if (answers) return { found: { model, reason: "used-last" }, lost };
  }
  for (const model of added(models)) {
    if (await canAnswer(model)) return { found: { model, reason: "added-last" }, lost };
  }
  return { found: undefined, lost };
}

/** Models that somebody brought here and that were not used since, the last one first; none of other programs. */
function added(models: readonly InstalledModel[]): InstalledModel[] {
  const time = ({ addedAt }: InstalledModel): number => addedAt?.getTime() ?? 0;
  // A starter model that nobody asked for came with the tests, or with a library that was copied.
  const isAsked = ({ id, addedAt }: InstalledModel): boolean => id !== starterModel.id || addedAt !== null;
  return models
    .filter((model) => model.place === "ingle" || model.place === "import")
    .filter((model) => model.lastUsedAt === null && isAsked(model))
    .toSorted((a, b) => time(b) - time(a));
}

/** Undefined for a model that cannot be read any more. */
async function canAnswer({ path }: InstalledModel): Promise<boolean | undefined> {
  try {
    return !(await peekFile(path)).isEmbedder;
  } catch {
    return undefined; // gone since the folder was read, closed to us, or damaged: the caller tells
  }
}

/** The largest recommended model that the memory has room for, or why there is none. */
async function modelOfHub(options: DefaultModelOptions): Promise<{ located: LocatedModel } | PassedOver> {
  const room = memoryOf(options) * memoryShareMax;
  const repos = recommended.filter(({ aboutBytes }) => aboutBytes <= room).map(({ repo }) => repo);
  if (mustStayOffline(options)) return { why: "offline", repo: repos[0] };
  const afterMs = options.hubAnswerMaxMs ?? hubAnswerMaxMs;
  const limit = AbortSignal.timeout(afterMs);
  const signal = options.signal === undefined ? limit : AbortSignal.any([options.signal, limit]);
  let passedOver: PassedOver = { why: "memory" };
  for (const repo of repos) {
    try {
      const { located, memoryBytes } = await offered(repo, { ...options, signal });
      if (memoryBytes <= room) return { located };
    } catch (error) {
      options.signal?.throwIfAborted();
      if (limit.aborted) return { why: "silent", repo: repos[0] ?? repo, afterMs };
      if (!EngineError.is(error) || error.code === "invalid_request") throw error;
      passedOver = { why: "refused", repo, error };
      if (error.code !== "model_not_found") return passedOver; // else a mirror, which may have another one
    }
  }
  return passedOver;
}

/** A recommended model and the memory it needs. Throws as `locateModel` and `describeModel` do. */
async function offered(
  repo: string,
  options: LibraryOptions,
): Promise<{ located: LocatedModel; memoryBytes: number }> {
  const located = await locateModel(`${repo}:${recommendedQuantization}`, options);
  // Another program brought it here already.
  if (located.kind !== "hub") return { located, memoryBytes: 0 };
  const facts = await describeModel(located.found, options);
  return { located, memoryBytes: memoryNeed(located.found.group.sizeBytes, facts) };
}

async function starter(options: LibraryOptions, lost: readonly string[]): Promise<LocatedModel> {
  try {
    return await locateModel(starterModel.id, options);
  } catch (error) {
    if (!mustStayOffline(options) || !EngineError.is(error) || error.code !== "model_not_found") throw error;
    const gone = lost[0] === undefined ? "" : `${lost[0]}, which was used last, is gone or damaged. `;
    const message =
      `${gone}No model was named, none of yours is on this machine, and Ingle was told to stay offline. Name one with --model, ` +
      "such as the path of a .gguf file; `ingle list` shows what other programs have.";
    throw new EngineError("model_not_found", message, { cause: error });
  }
}
