// The models of the library as the server's registry knows them: requests may name them, and they are loaded then. Used by
// serve.
import type { InstalledModel } from "@ingle/engine";
import type { ServerConfig } from "../config.ts";
import type { KnownModel, ModelSource } from "../models/known-model.ts";
import type { CommandContext } from "./context.ts";
import { knownModel } from "./open-model.ts";

export function installedModels(context: CommandContext, { engine }: ServerConfig): ModelSource {
  // A draft model guesses for the one model whose words it knows.
  const { draftModel: _, ...settings } = engine;
  const toKnown = ({ id, path, aliases, sizeBytes, quantization, addedAt }: InstalledModel): KnownModel => {
    const created = Math.floor((addedAt?.getTime() ?? 0) / 1000);
    const about = { size_bytes: sizeBytes, quantization, created };
    const located = { kind: "here", id, path, isListed: true } as const;
    return knownModel(located, context, { engine: settings, aliases, about });
  };
  return {
    known: async () => {
      const { listModels } = await context.engine();
      return (await listModels({ env: context.env })).map(toKnown);
    },
  };
}
