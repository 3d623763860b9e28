// Sampling fields in the engine's names: the only place where wire names (`repeat_penalty`, `max_tokens`, …) and a
// variant's defaults meet the engine's. Used by the mappers of each protocol.
import type { GenerationRequest } from "@ingle/engine";
import type { SamplingRequest } from "@ingle/protocol";
import { variants, type VariantName } from "../variants.ts";

/** Fields that are absent stay absent: their defaults are the engine's. */
export function toSampling(body: SamplingRequest, variant: VariantName) {
  return {
    temperature: body.temperature,
    topK: body.top_k ?? variants[variant].topK,
    topP: body.top_p,
    minP: body.min_p,
    repetitionPenalty: body.repetition_penalty ?? body.repeat_penalty,
    repeatLastN: body.repeat_last_n,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    seed: body.seed,
    logitBias: body.logit_bias,
    maxTokens: toMaxTokens(body.max_completion_tokens ?? body.max_tokens),
    stop: typeof body.stop === "string" ? [body.stop] : body.stop,
  } satisfies Partial<GenerationRequest>;
}

/** On the wire, -1 is "no limit". */
function toMaxTokens(limit: number | undefined): number | undefined {
  return limit === -1 ? undefined : limit;
}
