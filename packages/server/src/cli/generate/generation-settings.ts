// Converts the flags of `ingle run` and `ingle chat` to sampling options, checked by the engine, and settings for loading the
// model.
import { resolveConfig, type ServerConfig } from "../../config.ts";
import type { Engine } from "../context.ts";
import type { GenerationFlags } from "../command-flags.ts";

/** Throws the engine's `invalid_request`, before any model is touched. */
export function samplingOf(
  { maxTokens, temperature, topK, topP, minP, seed }: GenerationFlags,
  { checkGenerationRequest }: Pick<Engine, "checkGenerationRequest">,
) {
  const sampling = { maxTokens, temperature, topK, topP, minP, seed };
  checkGenerationRequest({ prompt: "only the numbers are checked", ...sampling });
  return sampling;
}

/** Settings from flags and environment, for one sequence: there is one reply at a time, and nothing to protect from a crash. */
export function settingsOf(
  flags: GenerationFlags,
  env: NodeJS.ProcessEnv,
): Pick<ServerConfig, "model" | "offline" | "models" | "engine"> {
  // Nothing listens, so the environment's host and keys do not matter.
  const unguarded = { noAuth: true, insecureShortKey: true };
  const { model, offline, models, engine } = resolveConfig({ flags: { ...flags, ...unguarded }, env });
  return { model, offline, models, engine: { ...engine, parallel: 1, engine: "in-process" } };
}
