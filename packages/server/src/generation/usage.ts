// Fields that the responses of several APIs share, in wire names: the head, usage, timings and token log probabilities.
import type { GenerationChunk, GenerationResult, Model, TokenLogprobs } from "@ingle/engine";
import { perSecond } from "../seconds.ts";
import type { PromptProgress, Timings, TokenLogprob, Usage } from "@ingle/protocol";

/** The head of a response; in a stream, the same in every chunk. */
export interface ResponseHead {
  id: string;
  /** Unix seconds. */
  created: number;
  model: string;
  system_fingerprint: string;
}

/** Responses with the same fingerprint come from the same weights and arithmetic. */
export function systemFingerprint(model: Model): string {
  const { architecture, quantization, parameters } = model.info;
  return `ingle-${architecture}-${quantization.toLowerCase()}-${parameters}`;
}

/**
 * `repliesPerPrompt` consecutive results share a prompt, which is counted once with the cached tokens of the first result.
 * Default: all results share one prompt.
 */
export function toUsage(results: readonly GenerationResult[], repliesPerPrompt = results.length): Usage {
  const firsts = firstOfEach(results, repliesPerPrompt);
  const promptTokens = sumBy(firsts, ({ usage }) => usage.promptTokens);
  const completionTokens = sumBy(results, ({ usage }) => usage.completionTokens);
  const audioTokens = sumBy(firsts, ({ usage }) => usage.audioTokens);
  const { drafted, accepted } = countDrafts(results);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: sumBy(firsts, ({ usage }) => usage.cachedTokens),
      ...(audioTokens > 0 ? { audio_tokens: audioTokens } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: sumBy(results, ({ usage }) => usage.reasoningTokens),
      ...(drafted > 0
        ? { accepted_prediction_tokens: accepted, rejected_prediction_tokens: drafted - accepted }
        : {}),
    },
  };
}

/**
 * `prompt_n` counts the computed prompt tokens, without the cached ones. Generations run in parallel, so the longest time counts.
 * Without drafts, their counts are absent.
 */
export function toTimings(results: readonly GenerationResult[], repliesPerPrompt = results.length): Timings {
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = toUsage(results, repliesPerPrompt);
  const computed = prompt_tokens - prompt_tokens_details.cached_tokens;
  const firsts = firstOfEach(results, repliesPerPrompt);
  const promptMs = Math.max(0, ...firsts.map(({ timings }) => timings.promptMs));
  const { drafted, accepted } = countDrafts(results);
  const predictedMs = Math.max(0, ...results.map(({ timings }) => timings.predictedMs));
  return {
    prompt_n: computed,
    prompt_ms: promptMs,
    prompt_per_second: perSecond(computed, promptMs),
    predicted_n: completion_tokens,
    predicted_ms: predictedMs,
    // Each reply's time begins with its first token.
    predicted_per_second: perSecond(
      sumBy(results, ({ usage }) => Math.max(0, usage.completionTokens - 1)),
      predictedMs,
    ),
    cache_n: prompt_tokens_details.cached_tokens,
    dropped_n: Math.max(0, ...results.map(({ usage }) => usage.droppedTokens)),
    ...(drafted > 0 ? { draft_n: drafted, draft_n_accepted: accepted } : {}),
  };
}

/** Drafted tokens of all replies, and those that were accepted. */
function countDrafts(results: readonly GenerationResult[]): { drafted: number; accepted: number } {
  return {
    drafted: sumBy(results, ({ usage }) => usage.draftedTokens),
    accepted: sumBy(results, ({ usage }) => usage.acceptedTokens),
  };
}

export function toPromptProgress({
  promptTokens,
  cachedTokens,
  computedTokens,
  ms,
}: NonNullable<GenerationChunk["prompt"]>): PromptProgress {
  return { total: promptTokens, cache: cachedTokens, processed: computedTokens, time_ms: ms };
}

/** The first result of each prompt. */
function firstOfEach(results: readonly GenerationResult[], repliesPerPrompt: number): GenerationResult[] {
  return results.filter((_, index) => index % repliesPerPrompt === 0);
}

function sumBy<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0);
}

export function toTokenLogprobs(tokens: readonly TokenLogprobs[]): TokenLogprob[] {
  return tokens.map(({ top, ...chosen }) => ({ ...toToken(chosen), top_logprobs: top.map(toToken) }));
}

function toToken({ bytes, logprob }: Omit<TokenLogprobs, "top">): Omit<TokenLogprob, "top_logprobs"> {
  return { token: decoder.decode(bytes), logprob, bytes: [...bytes] };
}

const decoder = new TextDecoder();
