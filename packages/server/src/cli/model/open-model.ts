// From a located model to a loaded one: fetches it when it is not there yet, finds settings with which it fits into memory,
// loads it, and shows all of it on stderr. Used by serve, run and chat.
import type { LoadedModel, LoadOptions, LocatedModel, MemoryBudget, MemoryForecast } from "@ingle/engine";
import type { ServerConfig } from "../../config.ts";
import type { KnownModel, PreparedModel, PrepareOptions } from "../../models/catalog/known-model.ts";
import { settingsOver, usualSettings } from "../../models/slot/load-settings.ts";
import type { CommandContext } from "../context.ts";
import { fetchWithBars } from "./fetch-model.ts";
import { startProgress } from "../progress.ts";

export interface OpenOptions {
  engine: Partial<ServerConfig["engine"]>;
  /** Fetches nothing. */
  offline?: boolean;
  /** What the model may take. Absent: nothing is asked about the memory. */
  budget?: MemoryBudget | undefined;
  /** Loads the projector that was installed with the model, where none is named. */
  readsImages?: boolean;
  /** Gives up beside the context's shutdown. */
  signal?: AbortSignal;
  /** Reports what the KV cache could reuse, under the model's id. */
  reportsKvBlocks?: boolean;
}

export type LocatedKnownModel = KnownModel & Required<Pick<KnownModel, "forecast">>;

/** A located model for the server's registry. */
export function knownModel(
  located: LocatedModel,
  context: CommandContext,
  { aliases = [], about = {}, ...options }: OpenOptions & Pick<KnownModel, "aliases" | "about">,
): LocatedKnownModel {
  return {
    id: located.id,
    aliases,
    about,
    settings: usualSettings(options.engine),
    prepare: (order) => prepareModel(located, context, over(options, order)),
    forecast: (order) => forecast(located, context, over(options, order)),
  };
}

/** What the server was told, and what an order says beside that. */
function over(options: OpenOptions, { budget, settings, signal }: PrepareOptions): OpenOptions {
  const engine = { ...options.engine, ...settingsOver(settings, options.engine) };
  return { ...options, engine, readsImages: true, budget, signal };
}

/** Throws `model_not_found` for a model that is still to be fetched. */
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
    throw new EngineError("model_not_found", `${located.id} is not on this machine yet: fetch it first.`);
  const engine = await withProjector(file, context, options);
  const { budget, signal = context.shutdown.signal } = options;
  return await forecastMemory(file, engine, { budget, signal });
}

/** The engine's options, with the projector that was installed with the model where none is named. */
async function withProjector(
  file: string,
  context: CommandContext,
  { engine, readsImages = false }: OpenOptions,
): Promise<OpenOptions["engine"]> {
  const { projectorInstalledWith } = await context.engine();
  const installed = readsImages ? await projectorInstalledWith(file, { env: context.env }) : undefined;
  return { ...engine, mmproj: engine.mmproj ?? installed };
}

/** Loads the model. Throws the engine's errors, or the reason of the signal that ended it. */
export async function openModel(
  located: LocatedModel,
  context: CommandContext,
  options: OpenOptions & {
    /** Called with 0 … 1 while the weights are read, beside what the terminal shows. */
    onProgress?: (fraction: number) => void;
  },
): Promise<LoadedModel> {
  const prepared = await prepareModel(located, context, options);
  const { signal = context.shutdown.signal, onProgress = () => {} } = options;
  return await prepared.load(onProgress, signal);
}

/** Everything but the weights. */
async function prepareModel(
  located: LocatedModel,
  context: CommandContext,
  options: OpenOptions,
): Promise<PreparedModel> {
  const signal = untilShutdown(context, options.signal);
  const { EngineError, buildInfo, fitModel, load, modelTraits, noteUse } = await context.engine();
  // Without the native engine a download would be for nothing: this says so first.
  if (located.kind !== "file") await buildInfo();
  const file = await fetchWithBars(located, context, { offline: options.offline ?? false, signal });
  const { budget, engine: asked } = options;
  const engine = {
    ...(await withProjector(file, context, options)),
    kvBlockSalt: options.reportsKvBlocks === true ? located.id : undefined,
  };
  const fitted = budget === undefined ? undefined : await fitModel(file, engine, { budget, signal });
  if (fitted?.isReduced === true) {
    const { contextLength, cells } = fitted.options;
    context.stderr.write(
      `Memory is short: requests to ${located.id} may hold ${contextLength} tokens each, and ${cells} together.\n`,
    );
  }
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
        // Folders of several models hold projectors of some of them.
        if (asked.mmproj !== undefined || !EngineError.is(error) || error.code !== "projector_mismatch")
          throw error;
        context.stderr.write(`${located.id} reads no images: ${error.message}\n`);
        return await read({ ...loadOptions, mmproj: undefined }, onProgress);
      });
      if (located.kind === "file" && !located.isListed) return loaded;
      try {
        await noteUse(located.id, { env: context.env });
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
