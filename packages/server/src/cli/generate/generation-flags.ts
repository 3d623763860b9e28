// Flags that say how to answer, shared by run and chat: read from the command line, checked by the engine's schema.
import { resolveConfig, type ServerConfig } from "../../config.ts";
import type { Engine } from "../context.ts";

export interface GenerationFlags {
  model?: string;
  offline?: boolean;
  system?: string;
  maxTokens?: number;
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  seed?: number;
  ctx?: number;
  threads?: number;
  kvBits?: number;
  kvBitsK?: number;
  kvBitsV?: number;
  contextOverflow?: "length" | "shift";
  speculation?: "off" | "ngram";
  draftModel?: string;
  draftTokens?: number;
}

/** The sampling flags in the engine's names. Throws the engine's `invalid_request`, before any model is touched. */
export function samplingOf(
  flags: GenerationFlags,
  { checkGenerationRequest }: Pick<Engine, "checkGenerationRequest">,
) {
  const { maxTokens, temperature, topK, topP, minP, seed } = flags;
  const sampling = { maxTokens, temperature, topK, topP, minP, seed };
  checkGenerationRequest({ prompt: "only the numbers are checked", ...sampling });
  return sampling;
}

/** Model and engine settings of flags and environment. One answer at a time needs one sequence. */
export function settingsOf(
  flags: GenerationFlags,
  env: NodeJS.ProcessEnv,
): Pick<ServerConfig, "model" | "offline" | "models" | "engine"> {
  const { model, offline, ctx, threads, kvBits, kvBitsK, kvBitsV } = flags;
  const { contextOverflow, speculation, draftModel, draftTokens } = flags;
  // Nothing listens, so nothing has to be kept from strangers.
  const { engine, ...config } = resolveConfig({
    flags: {
      model,
      offline,
      ctx,
      threads,
      kvBits,
      kvBitsK,
      kvBitsV,
      contextOverflow,
      speculation,
      draftModel,
      draftTokens,
      noAuth: true,
      insecureShortKey: true,
    },
    env,
  });
  const { models } = config;
  return { model: config.model, offline: config.offline, models, engine: { ...engine, parallel: 1 } };
}
