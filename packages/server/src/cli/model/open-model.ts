// Opens a located model: downloads it if needed, finds settings with which it fits into memory, and loads it, with progress on
// stderr.
import type {
  InstalledAdapter,
  LoadedModel,
  LoadOptions,
  LocatedModel,
  MemoryBudget,
  MemoryForecast,
} from "@ingle/engine";
import { adaptersMax } from "@ingle/engine/adapter-options";
import type { ServerConfig } from "../../config.ts";
import type { KnownModel, PreparedModel, PrepareOptions } from "../../models/catalog/known-model.ts";
import { settingsOver, usualSettings, type LoadSettings } from "../../models/slot/load-settings.ts";
import type { CommandContext, Engine } from "../context.ts";
import { fetchWithBars } from "./fetch-model.ts";
import { startProgress } from "../progress.ts";

const mebibyte = 1024 ** 2;

/**
 * The memory that models may use on this machine and its workers. Undefined if --memory-budget is 0. Throws `native_missing`, and
 * the errors of unreachable workers.
 */
export async function modelBudget(
  { memoryBudgetMiB }: Pick<ServerConfig["models"], "memoryBudgetMiB">,
  { buildInfo, memoryBudget, workerDevices }: Pick<Engine, "buildInfo" | "memoryBudget" | "workerDevices">,
  rpc?: ServerConfig["engine"]["rpc"],
): Promise<MemoryBudget | undefined> {
  if (memoryBudgetMiB === 0) return undefined;
  const { devices } = await buildInfo();
  const remote = rpc === undefined ? [] : await workerDevices(rpc);
  return memoryBudget(
    [...devices, ...remote],
    memoryBudgetMiB === undefined ? undefined : memoryBudgetMiB * mebibyte,
  );
}

export interface OpenOptions {
  engine: Partial<ServerConfig["engine"]>;
  /** Downloads nothing. */
  offline?: boolean;
  /** The memory that the model may take. Absent: no limit. */
  budget?: MemoryBudget | undefined;
  /** The part of it that other models leave. Absent: all. */
  left?: MemoryBudget | undefined;
  /** Whether to load the projector that was installed with the model, unless one is given. */
  readsImages?: boolean;
  /** Aborts the call, like the context's shutdown. */
  signal?: AbortSignal;
  /** Whether to report reusable blocks of the KV cache, under the model's id. */
  reportsKvBlocks?: boolean;
}

export type LocatedKnownModel = KnownModel & Required<Pick<KnownModel, "forecast">>;

/** A located model, for the server's registry. */
export function knownModel(
  located: LocatedModel,
  context: CommandContext,
  {
    aliases = [],
    about = {},
    installedAdapters = [],
    ...options
  }: OpenOptions &
    Pick<KnownModel, "aliases" | "about"> & { installedAdapters?: readonly InstalledAdapter[] },
): LocatedKnownModel {
  return {
    id: located.id,
    aliases,
    about,
    settings: usualSettings(options.engine),
    adapters: adapterOptions(options.engine, installedAdapters).map(({ name }) => name),
    prepare: (request) => prepareModel(located, context, over(options, request)),
    forecast: (request) => forecast(located, context, over(options, request)),
  };
}

/** The server's options, overridden by those of one request. */
function over(options: OpenOptions, { budget, left, settings, signal }: PrepareOptions): OpenOptions {
  const engine = engineOptions(settings, options.engine);
  return { ...options, engine, readsImages: true, budget, left, signal };
}

/** The engine's options with these settings over the given ones. */
export function engineOptions(
  settings: LoadSettings | undefined,
  engine: OpenOptions["engine"],
): OpenOptions["engine"] {
  const { devices, sampling: _, ...rest } = settingsOver(settings, usualSettings(engine));
  return { ...engine, ...rest, ...devices };
}

/** Throws `model_not_found` for a model that is not downloaded yet. */
async function forecast(
  located: LocatedModel,
  context: CommandContext,
  options: OpenOptions,
): Promise<MemoryForecast> {
  const { EngineError, forecastMemory, listModels } = await context.engine();
  const { env } = context;
  const listed = located.kind === "file" ? undefined : await listModels({ env });
  const file = located.kind === "file" ? located.path : listed?.find(({ id }) => id === located.id)?.path;
  if (file === undefined)
    throw new EngineError("model_not_found", `${located.id} is not on this machine yet: download it first.`);
  const engine = await withInstalledParts(file, context, options);
  const { budget, left, signal = context.shutdown.signal } = options;
  return await forecastMemory(file, engine, { budget, left, signal });
}

/**
 * The adapters that a model is loaded with: the given ones, and the installed ones of other names. Models over workers have none.
 */
function adapterOptions(
  { adapters: given = [], rpc }: OpenOptions["engine"],
  installed: readonly InstalledAdapter[],
): NonNullable<LoadOptions["adapters"]> {
  if (rpc !== undefined) return given;
  const names = new Set(given.map(({ name }) => name));
  const others = installed.filter(({ name }) => !names.has(name)).map(({ name, path }) => ({ name, path }));
  return [...given, ...others].slice(0, adaptersMax);
}

/**
 * The engine's options, with the projector and the adapters that were installed with the model. A projector that is given is used instead. Workers are connected to this
 * process, so the engine of a model that they hold runs here.
 */
async function withInstalledParts(
  file: string,
  context: CommandContext,
  { engine: given, readsImages = false }: OpenOptions,
): Promise<OpenOptions["engine"]> {
  const { findInstalledAdapters, findInstalledProjector } = await context.engine();
  const installed = readsImages ? await findInstalledProjector(file, { env: context.env }) : undefined;
  const engine = given.rpc === undefined ? given.engine : "in-process";
  const adapters = adapterOptions(given, await findInstalledAdapters(file, { env: context.env }));
  return { ...given, engine, mmproj: given.mmproj ?? installed, adapters };
}

/** Loads the model. Throws the engine's errors, or the reason of the aborted signal. */
export async function openModel(
  located: LocatedModel,
  context: CommandContext,
  options: OpenOptions & {
    /** Called with 0 … 1 while the weights are read. */
    onProgress?: (fraction: number) => void;
  },
): Promise<LoadedModel> {
  const prepared = await prepareModel(located, context, options);
  const { signal = context.shutdown.signal, onProgress = () => {} } = options;
  return await prepared.load(onProgress, signal);
}

/** Does everything except reading the weights. */
async function prepareModel(
  located: LocatedModel,
  context: CommandContext,
  options: OpenOptions,
): Promise<PreparedModel> {
  const signal = untilShutdown(context, options.signal);
  const { EngineError, buildInfo, fitModel, load, modelTraits, recordUse } = await context.engine();
  // Throws when the native engine is missing, before a download that would be useless.
  if (located.kind !== "file") await buildInfo();
  const file = await fetchWithBars(located, context, { offline: options.offline ?? false, signal });
  const { budget, left, engine: asked } = options;
  if (asked.rpc !== undefined && asked.engine === "process")
    context.stderr.write(`Workers hold layers of ${located.id}, so its engine runs in this process.\n`);
  const engine = {
    ...(await withInstalledParts(file, context, options)),
    kvBlockSalt: options.reportsKvBlocks === true ? located.id : undefined,
  };
  const fitted = budget === undefined ? undefined : await fitModel(file, engine, { budget, left, signal });
  if (fitted?.isDefault === false) context.stderr.write(`${located.id}: ${fitted.summary}\n`);
  const read = async (
    loadOptions: LoadOptions,
    onProgress: (fraction: number) => void,
  ): Promise<LoadedModel> => {
    using progress = startProgress(`Loading ${located.id}`, context);
    return await load(file, {
      ...loadOptions,
      onProgress: (fraction) => {
        progress.update(fraction);
        onProgress(fraction);
      },
    });
  };
  const traits = await modelTraits(file);
  signal.throwIfAborted();
  return {
    byMemory: fitted?.footprint.byMemory ?? {},
    traits,
    load: async (onProgress, loadSignal) => {
      const loadOptions = { ...(fitted?.options ?? engine), signal: untilShutdown(context, loadSignal) };
      const loaded = await read(loadOptions, onProgress).catch(async (error: unknown) => {
        // In a folder of several models, a projector may belong to another one.
        if (asked.mmproj !== undefined || !EngineError.is(error) || error.code !== "projector_mismatch")
          throw error;
        context.stderr.write(`${located.id} cannot read images: ${error.message}\n`);
        return await read({ ...loadOptions, mmproj: undefined }, onProgress);
      });
      if (located.kind === "file" && !located.isListed) return loaded;
      try {
        await recordUse(located.id, { env: context.env });
        return loaded;
      } catch (error) {
        await loaded[Symbol.asyncDispose]();
        throw error;
      }
    },
  };
}

function untilShutdown({ shutdown }: CommandContext, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? shutdown.signal : AbortSignal.any([shutdown.signal, signal]);
}
