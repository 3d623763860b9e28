// Sampling fields in the engine's names: the only place where wire names (`repeat_penalty`, `max_tokens`, …) and a
// variant's defaults meet the engine's. Used by the mappers of each protocol.
import type { GenerationRequest } from "@ingle/engine";
import type { SamplingRequest } from "@ingle/protocol";
import { variants, type VariantName } from "../variants.ts";

/** Fields that are absent stay absent: their defaults are the engine's. */
export function toSampling(body: SamplingRequest, variant: VariantName) {
  return {
    // Nothing but the likeliest token is left: the same as drawing without chance.
    temperature: body.top_p === 0 ? 0 : body.temperature,
    topK: body.top_k ?? variants[variant].topK,
    topP: body.top_p === 0 ? 1 : body.top_p,
    minP: body.min_p,
    repetitionPenalty: body.repetition_penalty ?? body.repeat_penalty,
    repeatLastN: body.repeat_last_n,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    seed: toSeed(body.seed),
    logitBias: body.logit_bias,
    maxTokens: toMaxTokens(body.max_completion_tokens ?? body.max_tokens),
    stop: toStops(body.stop),
  } satisfies Partial<GenerationRequest>;
}

/** The empty text ends nothing. */
function toStops(stop: SamplingRequest["stop"]): string[] | undefined {
  const stops = typeof stop === "string" ? [stop] : stop;
  return stops?.filter((text) => text !== "");
}

/** Larger ones are made of those that the engine counts on from; which one is the same each time. */
function toSeed(seed: number | undefined): number | undefined {
  return seed === undefined || Number.isSafeInteger(seed) ? seed : seed % Number.MAX_SAFE_INTEGER;
}

/** On the wire, -1 is "no limit". */
function toMaxTokens(limit: number | undefined): number | undefined {
  return limit === -1 ? undefined : limit;
}

/** The way back: what chat completions and completions call the engine's fields. */
export const fieldNames = {
  "responseFormat.grammar": "grammar",
  responseFormat: "response_format",
  toolChoice: "tool_choice",
};
