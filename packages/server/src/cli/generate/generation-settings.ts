// Converts the flags of `ingle run` and `ingle chat` to sampling options, checked by the engine, and settings for loading the
// model.
import type { GenerationRequest, Model, RecommendedSampling } from "@ingle/engine";
import type { ModelSettings } from "@ingle/protocol";
import { resolveConfig, type ServerConfig } from "../../config.ts";
import type { CommandContext, Engine } from "../context.ts";
import type { GenerationFlags } from "../command-flags.ts";
import { toSampling } from "../../generation/sampling-fields.ts";
import { ModelSettingsStore } from "../../models/settings/model-settings-store.ts";
import { loadSettings } from "../../models/settings/settled-model.ts";
import { settingsOver } from "../../models/slot/load-settings.ts";
import { engineOptions } from "../model/open-model.ts";
import { serverSampling, withDefaults, type ServerSampling } from "../../generation/sampling-defaults.ts";

type Sampling = Pick<GenerationRequest, keyof RecommendedSampling | "seed" | "maxTokens">;

/** The settings that stay with the model. Throws ConfigError for a file that is wrong. */
export async function ownSettings(id: string, context: CommandContext): Promise<ModelSettings> {
  const { configDir } = (await context.engine()).libraryPaths(context.env);
  return (await ModelSettingsStore.read(configDir)).settingsFor([id]);
}

/** The engine's options: flags outrank the settings of the model, which outrank the environment. */
export function engineFor(
  own: ModelSettings,
  flags: GenerationFlags,
  { engine }: Pick<ServerConfig, "engine">,
): Partial<ServerConfig["engine"]> {
  const { contextLength, kvBits, kvBitsK = kvBits, kvBitsV = kvBits, draftModel } = engine;
  const given = {
    contextLength: flags.ctx === undefined ? undefined : contextLength,
    kvBitsK: (flags.kvBitsK ?? flags.kvBits) === undefined ? undefined : kvBitsK,
    kvBitsV: (flags.kvBitsV ?? flags.kvBits) === undefined ? undefined : kvBitsV,
    draftModel: flags.draftModel === undefined ? undefined : draftModel,
  };
  return engineOptions(settingsOver(given, loadSettings(own) ?? {}), engine);
}

/**
 * From the flags, else from the settings of the model, else from the environment. The function adds what a model recommends. Throws the engine's `invalid_request`, before any
 * model is touched.
 */
export function resolveSampling(
  { maxTokens, temperature }: GenerationFlags,
  { set, followsModels }: ServerSampling,
  { checkGenerationRequest }: Pick<Engine, "checkGenerationRequest">,
  own: ModelSettings = {},
): (model: Model) => Sampling {
  const sampling = withDefaults<Sampling>(
    { maxTokens, temperature },
    { ...set, ...toSampling(own.sampling ?? {}) },
  );
  checkGenerationRequest({ prompt: "only the numbers are checked", ...sampling });
  return ({ info }) => withDefaults(sampling, followsModels ? info.sampling : {});
}

/** Settings from flags and environment, for one sequence: there is one reply at a time, and nothing to protect from a crash. */
export function resolveSettings(
  flags: GenerationFlags,
  env: NodeJS.ProcessEnv,
): Pick<ServerConfig, "model" | "offline" | "models" | "engine"> & { sampling: ServerSampling } {
  // Nothing listens, so the environment's host and keys do not matter.
  const unguarded = { noAuth: true, insecureShortKey: true };
  const { model, offline, models, engine, sampling } = resolveConfig({
    flags: { ...flags, ...unguarded },
    env,
  });
  return {
    model,
    offline,
    models,
    sampling: serverSampling(sampling),
    engine: { ...engine, parallel: 1, engine: "in-process" },
  };
}
