// What every form of an answer shares: its head, usage and timings in wire names. Used by the answers of each protocol.
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

/** All replies have one prompt; what the first of them found computed is what the request did. */
export function toUsage(results: readonly GenerationResult[]): Usage {
  const [first] = results;
  const promptTokens = first?.usage.promptTokens ?? 0;
  const completionTokens = sumOf(results, ({ usage }) => usage.completionTokens);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: first?.usage.cachedTokens ?? 0 },
  };
}

/**
 * `prompt_n` counts what was computed: prompt tokens without the cached ones. Of several replies, which are computed side
 * by side, the longest counts. Without guesses there are no counts of them.
 */
export function toTimings(results: readonly GenerationResult[]): Timings {
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = toUsage(results);
  const computed = prompt_tokens - prompt_tokens_details.cached_tokens;
  const promptMs = results[0]?.timings.promptMs ?? 0;
  const drafted = sumOf(results, ({ usage }) => usage.draftedTokens);
  const predictedMs = Math.max(0, ...results.map(({ timings }) => timings.predictedMs));
  return {
    prompt_n: computed,
    prompt_ms: promptMs,
    prompt_per_second: perSecond(computed, promptMs),
    predicted_n: completion_tokens,
    predicted_ms: predictedMs,
    predicted_per_second: perSecond(completion_tokens, predictedMs),
    cache_n: prompt_tokens_details.cached_tokens,
    dropped_n: Math.max(0, ...results.map(({ usage }) => usage.droppedTokens)),
    ...(drafted > 0
      ? { draft_n: drafted, draft_n_accepted: sumOf(results, ({ usage }) => usage.acceptedTokens) }
      : {}),
  };
}

function sumOf<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0);
}

/** 0 when no time has passed: JSON has no infinity. */
export function perSecond(count: number, milliseconds: number): number {
  return milliseconds > 0 ? (count / milliseconds) * 1000 : 0;
}
