// Starts and stops a server from a config: its registry of models, its keys, and its listener.
import type { MemoryBudget } from "@ingle/engine";
import type { Machine } from "@ingle/protocol";
import { openKeys } from "./open-keys.ts";
import type { ServerConfig } from "./config.ts";
import { JobRunner } from "./jobs/job-runner.ts";
import { openKvEvents } from "./kv-events/publisher.ts";
import { crashLog, keptIn, loggerSetting, type LoggerSetting } from "./logger.ts";
import { openListener, type Listener, type Warn } from "./listener.ts";
import { LogRing } from "./live/log-ring.ts";
import type { ModelLibrary } from "./models/library/model-library.ts";
import type { ModelSettingsStore } from "./models/settings/model-settings-store.ts";
import { thisMachine } from "./this-machine.ts";
import type { ModelSource } from "./models/catalog/known-model.ts";
import { ModelRegistry } from "./models/registry.ts";
import { installedPage } from "./page/page-files.ts";
import { keepUsage } from "./access/kept-usage.ts";
import { RequestBoard } from "./live/request-board.ts";

export interface ServeDependencies {
  /** Default: on stderr, in the config's format. */
  logger?: LoggerSetting;
  /** Default: one made from the config, without models; add them with `registry.load()`. */
  registry?: ModelRegistry;
  /** More models that requests may name. Default: none. */
  source?: ModelSource | undefined;
  /** The library that /api/v1 searches, downloads to and removes from. Default: none. */
  library?: ModelLibrary | undefined;
  /** The settings that stay with models. Default: none. */
  modelSettings?: ModelSettingsStore | undefined;
  /** What /api/v1/machine returns. Default: this machine, with the library of the process's environment. */
  machine?: (() => Promise<Machine>) | undefined;
  /** Memory that all models may take together. Default: no limit. */
  budget?: MemoryBudget | undefined;
  /** Where it is kept over a restart what the keys of `--keys` have used today. Default: it is not kept. */
  usageFile?: string | undefined;
  /** Where files and batches are kept, unless the config says. Default: nowhere. */
  batchFolder?: string | undefined;
  /** How often key and certificate files are checked for changes. Default: every two seconds. */
  lookEveryMs?: number | undefined;
}

export interface RunningServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:1337`, with the port actually in use. */
  readonly url: string;
  readonly port: number;
  readonly registry: ModelRegistry;
  /** The ports on which KV-cache events are published and replayed; absent if they are not. */
  readonly kvEvents: { readonly port: number; readonly replayPort: number | undefined } | undefined;
  /** A key that manages this server while it runs, for programs of the user who started it. */
  readonly managementToken: string;
  /**
   * Accepts no new requests, lets running ones finish until the deadline (default: the config's), then ends them, and unloads the
   * models. Idempotent.
   */
  close(options?: { deadlineMs?: number }): Promise<void>;
}

/** Starts to listen. Throws ConfigError if it cannot listen on the address. */
export async function serve(
  config: ServerConfig,
  dependencies: ServeDependencies = {},
): Promise<RunningServer> {
  const stopping = new AbortController();
  try {
    return await start(config, dependencies, stopping);
  } catch (error) {
    stopping.abort();
    throw error;
  }
}

function startJobs(
  library: ModelLibrary,
  { registry, warn }: { registry: ModelRegistry; warn: Warn },
): JobRunner {
  return new JobRunner({
    library,
    registry,
    onFailure: (err, { id, kind }) => warn("a job failed", { err, job: id, kind }),
  });
}

/** Undefined if nothing is kept. */
async function keptUsage(
  { keys }: ServerConfig,
  { usageFile }: ServeDependencies,
  { board, warn }: { board: RequestBoard; warn: Warn },
): Promise<AsyncDisposable | undefined> {
  if (keys === undefined || usageFile === undefined) return undefined;
  return await keepUsage(usageFile, board.meters, { onProblem: (sentence) => warn(sentence) });
}

/** `stopping` is aborted when the server is closed. */
async function start(
  config: ServerConfig,
  dependencies: ServeDependencies,
  stopping: AbortController,
): Promise<RunningServer> {
  const {
    source,
    budget,
    library,
    modelSettings,
    machine = () => thisMachine(process.env),
    lookEveryMs,
  } = dependencies;
  let listener: Listener | undefined;
  const warnings: Parameters<Warn>[] = [];
  const warn: Warn = (sentence, about = {}) => {
    if (listener === undefined) warnings.push([sentence, about]);
    else listener.log.warn(about, sentence);
  };
  const failed = (what: string) => (err: unknown) => warn(what, { err });
  const onSourceFailure = failed("cannot list the models of this machine");
  const registry =
    dependencies.registry ??
    new ModelRegistry({
      ...config.models,
      waitingMax: config.engine.waitingMax,
      source,
      onSourceFailure,
      onCrash: crashLog(warn),
      budget,
      modelSettings,
    });
  const logRing = new LogRing();
  const logger = keptIn(
    logRing,
    dependencies.logger ?? (await loggerSetting({ level: "info", format: config.logFormat })),
  );
  const keys = await openKeys(config, {
    lookEveryMs,
    signal: stopping.signal,
    onWarning: (sentence) => warn(sentence),
    onFailure: failed("a changed key file cannot be used; its previous keys stay in use"),
  });
  const board = new RequestBoard();
  const usage = await keptUsage(config, dependencies, { board, warn });
  const page = config.noUi ? undefined : await installedPage();
  const jobs = library === undefined ? undefined : startJobs(library, { registry, warn });
  const ofModels = { registry, library, modelSettings, jobs, machine, batchFolder: dependencies.batchFolder };
  const ofListener = { logger, logRing, board, page, lookEveryMs, warn, keys: keys.ring };
  listener = await openListener(config, { ...ofModels, ...ofListener });
  for (const [sentence, about] of warnings) warn(sentence, about);

  const { url, port } = listener;
  const kvEvents = await openKvEvents(config, { port, registry, warn }).catch(async (error: unknown) => {
    await listener?.close({ deadlineMs: 0 });
    throw error;
  });
  const close = async (options: { deadlineMs?: number } = {}): Promise<void> => {
    stopping.abort();
    const modelsFreed = registry[Symbol.asyncDispose](); // from here on, new requests are refused
    const jobsEnded = jobs?.[Symbol.asyncDispose]();
    await listener.close(options);
    await usage?.[Symbol.asyncDispose]();
    await jobsEnded;
    await modelsFreed;
    await kvEvents?.[Symbol.asyncDispose]();
  };
  const running = { url, port, registry, kvEvents, managementToken: keys.token, close };
  return { ...running, [Symbol.asyncDispose]: () => close() };
}
