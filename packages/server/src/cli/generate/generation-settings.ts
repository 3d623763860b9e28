// Converts the flags of `ingle run` and `ingle chat` to sampling options, checked by the engine, and settings for loading the
// model.
import type { GenerationRequest, Model, RecommendedSampling } from "@ingle/engine";
import { resolveConfig, type ServerConfig } from "../../config.ts";
import type { Engine } from "../context.ts";
import type { GenerationFlags } from "../command-flags.ts";
import { serverSampling, withDefaults, type ServerSampling } from "../../generation/sampling-defaults.ts";

type Sampling = Pick<GenerationRequest, keyof RecommendedSampling | "seed" | "maxTokens">;

/**
 * From the flags, else from the environment. The function adds what a model recommends. Throws the engine's `invalid_request`, before any
 * model is touched.
 */
export function resolveSampling(
  { maxTokens, temperature }: GenerationFlags,
  { set, followsModels }: ServerSampling,
  { checkGenerationRequest }: Pick<Engine, "checkGenerationRequest">,
): (model: Model) => Sampling {
  const sampling = withDefaults<Sampling>({ maxTokens, temperature }, set);
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
