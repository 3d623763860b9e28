// The library's models as a source for the server's registry: a request that names one loads it.
import type { InstalledModel, ModelTraits, ProjectorTraits } from "@ingle/engine";
import type { ServerConfig } from "../../config.ts";
import type { KnownModel, ModelSource, PrepareOptions } from "../../models/catalog/known-model.ts";
import type { CommandContext, Engine } from "../context.ts";
import { FileTraits } from "./file-traits.ts";
import { knownModel, type LocatedKnownModel, type OpenOptions } from "../model/open-model.ts";
import { toUnixSeconds } from "../../seconds.ts";

/** `engineSettings` returns how they are loaded; it is called each time that they are listed. */
export function installedModels(
  context: CommandContext,
  engineSettings: () => ServerConfig["engine"],
  { reportsKvBlocks = false }: Pick<OpenOptions, "reportsKvBlocks"> = {},
): ModelSource {
  const toKnown = (
    installed: InstalledModel,
    { traits, projector }: { traits: ModelTraits | undefined; projector: ProjectorTraits },
    { isRemovable }: Engine,
  ): KnownModel => {
    // A draft model shares the vocabulary of one model; a projector and its bounds belong to one model too.
    const ofOneModel = { draftModel: undefined, mmproj: undefined, adapters: [] };
    const bounds = { imageMinTokens: undefined, imageMaxTokens: undefined };
    const settings = { ...engineSettings(), ...ofOneModel, ...bounds };
    const { id, path, aliases, format, sha256, lastUsedAt } = installed;
    const about = { ...aboutInstalled(installed), ...projector };
    const located = { kind: "file", id, path, isListed: true } as const;
    const withContext = (contextLength: number | undefined): LocatedKnownModel =>
      knownModel(located, context, {
        engine: { ...settings, contextLength },
        aliases,
        about,
        installedAdapters: installed.adapters,
        reportsKvBlocks,
      });
    const usual = withContext(settings.contextLength);
    // --ctx is meant for the model that the server was started with; this one may support less.
    const orShorter = async <T>(
      request: PrepareOptions,
      attempt: (known: LocatedKnownModel) => Promise<T>,
    ): Promise<T> => {
      const { EngineError } = await context.engine();
      try {
        return await attempt(usual);
      } catch (error) {
        const most = EngineError.is(error) ? error.details["contextLengthTrain"] : undefined;
        if (typeof most !== "number" || request.settings?.contextLength !== undefined) throw error;
        return await attempt(withContext(most));
      }
    };
    return {
      ...usual,
      listed: {
        format,
        sha256,
        lastUsedAt,
        isRemovable: isRemovable(installed),
        isImported: installed.place === "import",
        traits,
      },
      prepare: (request) => orShorter(request, (known) => known.prepare(request)),
      forecast: (request) => orShorter(request, (known) => known.forecast(request)),
    };
  };
  let fileTraits: FileTraits | undefined;
  return {
    known: async () => {
      const library = await context.engine();
      const models = await library.listModels({ env: context.env });
      fileTraits ??= new FileTraits(library.modelTraits);
      const traits = await fileTraits.of(models.map(({ path }) => path));
      return Promise.all(
        models.map(async (installed) => {
          const projector = await library.projectorTraits(installed.mmproj);
          return toKnown(installed, { traits: traits.get(installed.path), projector }, library);
        }),
      );
    },
  };
}

/** What is known without reading the model's files. */
function aboutInstalled({ sizeBytes, quantization, addedAt }: InstalledModel): KnownModel["about"] {
  return {
    size_bytes: sizeBytes,
    quantization,
    created: addedAt === null ? 0 : toUnixSeconds(addedAt),
  };
}
