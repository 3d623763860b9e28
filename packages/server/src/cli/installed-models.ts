// The models of the library as the server's registry knows them: requests may name them, and they are loaded then. Used by
// serve.
import type { InstalledModel } from "@ingle/engine";
import type { ServerConfig } from "../config.ts";
import type { KnownModel, ModelSource } from "../models/known-model.ts";
import type { CommandContext } from "./context.ts";
import { knownModel } from "./open-model.ts";

export function installedModels(context: CommandContext, { engine }: ServerConfig): ModelSource {
  // A draft model guesses for the one model whose words it knows, and a projector and its bounds belong to one, too.
  const { draftModel: _, mmproj: __, imageMinTokens: ___, imageMaxTokens: ____, ...settings } = engine;
  const toKnown = (installed: InstalledModel): KnownModel => {
    const { id, path, aliases } = installed;
    const about = aboutInstalled(installed);
    const located = { kind: "here", id, path, isListed: true } as const;
    const withContext = (contextLength: number | undefined): KnownModel =>
      knownModel(located, context, { engine: { ...settings, contextLength }, aliases, about });
    return {
      ...withContext(settings.contextLength),
      prepare: async (options) => {
        const { EngineError } = await context.engine();
        try {
          return await withContext(settings.contextLength).prepare(options);
        } catch (error) {
          // --ctx is meant for the model that the server was started with; another may be made for less.
          const most = EngineError.is(error) ? error.details["contextLengthTrain"] : undefined;
          if (typeof most !== "number" || options.settings?.contextLength !== undefined) throw error;
          return await withContext(most).prepare(options);
        }
      },
    };
  };
  return {
    known: async () => {
      const { listModels } = await context.engine();
      return (await listModels({ env: context.env })).map(toKnown);
    },
  };
}

/** What can be said without reading its files: with a projector beside it, a model is loaded as one that reads images. */
function aboutInstalled({ sizeBytes, quantization, addedAt, mmproj }: InstalledModel): KnownModel["about"] {
  return {
    size_bytes: sizeBytes,
    quantization,
    created: Math.floor((addedAt?.getTime() ?? 0) / 1000),
    readsImages: mmproj !== null,
  };
}
