// What every form of an answer shares: its head, usage and timings in wire names. Used by the answers of each protocol.
import type { GenerationResult, Model } from "@ingle/engine";
import type { Timings, Usage } from "@ingle/protocol";

/** The fields that stay the same in every chunk of an answer. */
export interface ResponseFields {
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

/**
 * `repliesPerPrompt` results in a row have one prompt, and what the first of them found computed is what the request did
 * with it. Default: all have the same prompt.
 */
export function toUsage(results: readonly GenerationResult[], repliesPerPrompt = results.length): Usage {
  const firsts = firstOfEach(results, repliesPerPrompt);
  const promptTokens = sumOf(firsts, ({ usage }) => usage.promptTokens);
  const completionTokens = sumOf(results, ({ usage }) => usage.completionTokens);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: sumOf(firsts, ({ usage }) => usage.cachedTokens) },
    completion_tokens_details: {
      reasoning_tokens: sumOf(results, ({ usage }) => usage.reasoningTokens),
    },
  };
}

/**
 * `prompt_n` counts what was computed: prompt tokens without the cached ones. Of several replies or prompts, which are
 * computed side by side, the longest time counts. Without guesses there are no counts of them.
 */
export function toTimings(results: readonly GenerationResult[], repliesPerPrompt = results.length): Timings {
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = toUsage(results, repliesPerPrompt);
  const computed = prompt_tokens - prompt_tokens_details.cached_tokens;
  const firsts = firstOfEach(results, repliesPerPrompt);
  const promptMs = Math.max(0, ...firsts.map(({ timings }) => timings.promptMs));
  const drafted = sumOf(results, ({ usage }) => usage.draftedTokens);
  const predictedMs = Math.max(0, ...results.map(({ timings }) => timings.predictedMs));
  return {
    prompt_n: computed,
    prompt_ms: promptMs,
    prompt_per_second: perSecond(computed, promptMs),
    predicted_n: completion_tokens,
    predicted_ms: predictedMs,
    // Each reply's time begins with its first token.
    predicted_per_second: perSecond(
      sumOf(results, ({ usage }) => Math.max(0, usage.completionTokens - 1)),
      predictedMs,
    ),
    cache_n: prompt_tokens_details.cached_tokens,
    dropped_n: Math.max(0, ...results.map(({ usage }) => usage.droppedTokens)),
    ...(drafted > 0
      ? { draft_n: drafted, draft_n_accepted: sumOf(results, ({ usage }) => usage.acceptedTokens) }
      : {}),
  };
}

/** The first result of each prompt. */
function firstOfEach(results: readonly GenerationResult[], repliesPerPrompt: number): GenerationResult[] {
  return results.filter((_, index) => index % repliesPerPrompt === 0);
}

function sumOf<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0);
}

/** 0 when no time has passed: JSON has no infinity. */
export function perSecond(count: number, milliseconds: number): number {
  return milliseconds > 0 ? (count / milliseconds) * 1000 : 0;
}
