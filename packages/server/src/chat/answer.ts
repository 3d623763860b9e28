// What every form of an answer shares: its head, usage and timings in wire names. Used by to-completion.ts and
// to-chunks.ts.
import type { GenerationResult, Model } from "@ingle/engine";
import type { Timings, Usage } from "@ingle/protocol";

/** The fields that stay the same in every chunk of an answer. */
export interface AnswerHead {
  id: string;
  /** Unix seconds. */
  created: number;
  model: string;
  system_fingerprint: string;
}

/** Answers with the same fingerprint come from the same weights and arithmetic. */
export function fingerprintOf(model: Model): string {
  const { architecture, quantization, parameters } = model.info;
  return `ingle-${architecture}-${quantization.toLowerCase()}-${parameters}`;
}

export function toUsage({ usage }: GenerationResult): Usage {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
  };
}

/** `prompt_n` counts what was computed: prompt tokens without the cached ones. Without guesses there are no counts of them. */
export function toTimings({ usage, timings }: GenerationResult): Timings {
  const computed = usage.promptTokens - usage.cachedTokens;
  return {
    prompt_n: computed,
    prompt_ms: timings.promptMs,
    prompt_per_second: perSecond(computed, timings.promptMs),
    predicted_n: usage.completionTokens,
    predicted_ms: timings.predictedMs,
    predicted_per_second: perSecond(usage.completionTokens, timings.predictedMs),
    cache_n: usage.cachedTokens,
    dropped_n: usage.droppedTokens,
    ...(usage.draftedTokens > 0
      ? { draft_n: usage.draftedTokens, draft_n_accepted: usage.acceptedTokens }
      : {}),
  };
}

/** 0 when no time has passed: JSON has no infinity. */
export function perSecond(count: number, milliseconds: number): number {
  return milliseconds > 0 ? (count / milliseconds) * 1000 : 0;
}
