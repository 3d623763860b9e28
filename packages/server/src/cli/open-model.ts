// From a located model to a loaded one: fetches it when it is not there yet, finds settings with which it fits into memory,
// loads it, and shows all of it on stderr. Used by serve, run and chat.
import type { LoadedModel, LoadOptions, LocatedModel, MemoryBudget } from "@ingle/engine";
import type { ServerConfig } from "../config.ts";
import type { KnownModel, PreparedModel } from "../models/known-model.ts";
import { settingsOver, usualSettings } from "../models/load-settings.ts";
import type { CommandContext } from "./context.ts";
import { fetchWithBars } from "./fetch-with-bars.ts";
import { startProgress } from "./progress.ts";

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
}

/** A located model for the server's registry. */
export function knownModel(
  located: LocatedModel,
  context: CommandContext,
  { aliases = [], about = {}, ...options }: OpenOptions & Pick<KnownModel, "aliases" | "about">,
): KnownModel {
  return {
    id: located.id,
    aliases,
    about,
    settings: usualSettings(options.engine),
    prepare: ({ budget, settings, signal }) => {
      const engine = { ...options.engine, ...settingsOver(settings, options.engine) };
      return prepareModel(located, context, { ...options, engine, readsImages: true, budget, signal });
    },
  };
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
  const { EngineError, buildInfo, fitModel, load, noteUse, projectorInstalledWith } = await context.engine();
  // Without the native engine a download would be for nothing: this says so first.
  if (located.kind !== "here") await buildInfo();
  const file = await fetchWithBars(located, context, { offline: options.offline ?? false, signal });
  const { budget, engine: asked, readsImages = false } = options;
  const mmproj =
    asked.mmproj ?? (readsImages ? await projectorInstalledWith(file, { env: context.env }) : undefined);
  const engine = { ...asked, mmproj };
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
  return {
    byMemory: fitted?.footprint.byMemory ?? {},
    load: async (onProgress, loadSignal) => {
      const loadOptions = { ...(fitted?.options ?? engine), signal: untilShutdown(context, loadSignal) };
      const loaded = await read(loadOptions, onProgress).catch(async (error: unknown) => {
        // Folders of several models hold projectors of some of them.
        if (asked.mmproj !== undefined || !EngineError.is(error) || error.code !== "projector_mismatch")
          throw error;
        context.stderr.write(`${located.id} reads no images: ${error.message}\n`);
        return await read({ ...loadOptions, mmproj: undefined }, onProgress);
      });
      if (located.kind === "here" && !located.isListed) return loaded;
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
