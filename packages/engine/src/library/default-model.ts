// The model to use if none is named: the last used one; else a small one of the hub that fits into memory; else, if the hub
// is not available, the starter model.
import { EngineError } from "../base/errors.ts";
import { listModels, type InstalledModel } from "./installed.ts";
import { memoryLimit, mustStayOffline, type LibraryOptions } from "./library-options.ts";
import { locateModel, type LocatedModel } from "./locate.ts";
import { readManifest } from "./manifest.ts";
import { memoryNeed, peekFile } from "./model-facts.ts";
import { libraryPaths } from "../base/home.ts";
import { pause, type Wait } from "./retry.ts";
import { describeModel } from "./search-hub.ts";
import { starterModel } from "./npm-model.ts";

/** The model, the reason for it, and the models that were skipped. */
export type DefaultModel = {
  located: LocatedModel;
  /** Ids of models that were used more recently and are missing or damaged; most recently used first. */
  lost: readonly string[];
} & (
  | { reason: "used-last" }
  /** None has been used yet: the last added one. */
  | { reason: "added-last" }
  /** No model is installed: the largest recommended one that fits into memory. */
  | { reason: "recommended" }
  | { reason: "starter"; starterReason: StarterReason }
);

/** Why the starter model was chosen instead of one of the hub; `repo` is the one that would have been chosen. */
export type StarterReason =
  | { why: "offline"; repo: string | undefined }
  | { why: "silent"; repo: string; afterMs: number }
  | { why: "unreachable"; repo: string; error: EngineError }
  /** The hub responded with this error. */
  | { why: "refused"; repo: string; error: EngineError }
  | { why: "memory" };

export interface DefaultModelOptions extends LibraryOptions {
  /** The time limit, in milliseconds, for all requests to the hub. Default 3,000. */
  hubResponseMaxMs?: number | undefined;
}

/** Longer than a healthy network needs, and short enough that a user does not wonder what happens. */
const hubResponseMaxMs = 3_000;

/** The share of memory for a model that the user did not choose; the rest is for the system and other programs. */
const memoryShareMax = 0.5;

/** Instruct models for small machines, the most capable first, with their approximate memory; the header gives it exactly. */
const recommended = [
  { repo: "LiquidAI/LFM2-2.6B-GGUF", aboutBytes: 2.4e9 },
  { repo: "LiquidAI/LFM2-1.2B-GGUF", aboutBytes: 1.4e9 },
  { repo: "LiquidAI/LFM2-700M-GGUF", aboutBytes: 1.15e9 },
  { repo: "LiquidAI/LFM2-350M-GGUF", aboutBytes: 0.9e9 },
];
/** Smaller ones are much worse, larger ones take longer to download. */
const recommendedQuantization = "Q4_K_M";

/**
 * Chooses an installed model, and contacts the hub only if there is none. Downloads nothing. Throws `model_not_found` (no model
 * is installed, and Ingle is offline), `invalid_request` (the hub's settings), `library_invalid` or the signal's reason.
 */
export async function defaultModel(options: DefaultModelOptions = {}): Promise<DefaultModel> {
  options.signal?.throwIfAborted();
  const { found, lost } = await ownModel(options);
  if (found !== undefined) {
    const { model, reason } = found;
    return { reason, lost, located: { kind: "file", id: model.id, path: model.path, isListed: true } };
  }
  const fromHub = await modelOfHub(options);
  if ("located" in fromHub) return { reason: "recommended", lost, ...fromHub };
  return { reason: "starter", lost, starterReason: fromHub, located: await starter(options, lost) };
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
    const isUsable = model === undefined ? undefined : await canGenerate(model);
    if (model === undefined || isUsable === undefined) lost.push(id);
    else if (isUsable) return { found: { model, reason: "used-last" }, lost };
  }
  for (const model of added(models)) {
    if (await canGenerate(model)) return { found: { model, reason: "added-last" }, lost };
  }
  return { found: undefined, lost };
}

/** Ingle's own and imported models that were never used, the last added first. */
function added(models: readonly InstalledModel[]): InstalledModel[] {
  const time = ({ addedAt }: InstalledModel): number => addedAt?.getTime() ?? 0;
  // A starter model without a date was not downloaded: it came with the tests, or with a copied library.
  const isRequested = ({ id, addedAt }: InstalledModel): boolean =>
    id !== starterModel.id || addedAt !== null;
  return models
    .filter((model) => model.place === "ingle" || model.place === "import")
    .filter((model) => model.lastUsedAt === null && isRequested(model))
    .toSorted((a, b) => time(b) - time(a));
}

/** Undefined for a model that cannot be read any more. */
async function canGenerate({ path }: InstalledModel): Promise<boolean | undefined> {
  try {
    return !(await peekFile(path)).isEmbedder;
  } catch {
    return undefined; // by now missing, unreadable or damaged: the caller reports it
  }
}

/** The largest recommended model that fits into memory, or the reason for none. */
async function modelOfHub(options: DefaultModelOptions): Promise<{ located: LocatedModel } | StarterReason> {
  const memoryMax = memoryLimit(options) * memoryShareMax;
  const repos = recommended.filter(({ aboutBytes }) => aboutBytes <= memoryMax).map(({ repo }) => repo);
  if (mustStayOffline(options)) return { why: "offline", repo: repos[0] };
  const afterMs = options.hubResponseMaxMs ?? hubResponseMaxMs;
  const limit = AbortSignal.timeout(afterMs);
  const signal = options.signal === undefined ? limit : AbortSignal.any([options.signal, limit]);
  const { wait = pause } = options;
  const question: LibraryOptions = { ...options, signal, wait: unlessUnreachable(wait) };
  let passedOver: StarterReason = { why: "memory" };
  for (const repo of repos) {
    try {
      const { located, memoryBytes } = await offered(repo, question);
      if (memoryBytes <= memoryMax) return { located };
    } catch (error) {
      options.signal?.throwIfAborted();
      if (limit.aborted) return { why: "silent", repo: repos[0] ?? repo, afterMs };
      if (isUnreachable(error)) return { why: "unreachable", repo: repos[0] ?? repo, error };
      if (!EngineError.is(error) || error.code === "invalid_request") throw error;
      passedOver = { why: "refused", repo, error };
      if (error.code !== "model_not_found") return passedOver; // a mirror may lack this one and have another
    }
  }
  return passedOver;
}

/** The system's codes where there is no network, or nothing listens: the next seconds change nothing. */
const unreachableCodes = new Set(["ENOTFOUND", "ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH"]);

function isUnreachable(error: unknown): error is EngineError {
  return EngineError.is(error) && unreachableCodes.has(String(error.details["reason"]));
}

/** Gives up at once where waiting does not help: another model is chosen then. */
function unlessUnreachable(wait: Wait): Wait {
  return async (ms, options) => {
    if (isUnreachable(options.failure?.final)) throw options.failure.final;
    await wait(ms, options);
  };
}

/** A recommended model and the memory it needs. Throws as `locateModel` and `describeModel`. */
async function offered(
  repo: string,
  options: LibraryOptions,
): Promise<{ located: LocatedModel; memoryBytes: number }> {
  const located = await locateModel(`${repo}:${recommendedQuantization}`, options);
  // Another program has already downloaded it.
  if (located.kind !== "hub") return { located, memoryBytes: 0 };
  const facts = await describeModel(located.found, options);
  return { located, memoryBytes: memoryNeed(located.found.group.sizeBytes, facts) };
}

async function starter(options: LibraryOptions, lost: readonly string[]): Promise<LocatedModel> {
  try {
    return await locateModel(starterModel.id, options);
  } catch (error) {
    if (!mustStayOffline(options) || !EngineError.is(error) || error.code !== "model_not_found") throw error;
    const gone = lost[0] === undefined ? "" : `${lost[0]}, the last used model, is missing or damaged. `;
    const message =
      `${gone}No model was named, none of yours is on this machine, and Ingle was told to stay offline. Name one with --model, ` +
      "such as the path of a .gguf file; `ingle list` shows the models of other programs.";
    throw new EngineError("model_not_found", message, { cause: error });
  }
}
