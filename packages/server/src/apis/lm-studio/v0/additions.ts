// What LM Studio's API v0 adds to OpenAI's: the model's idle time in a request, and speed, model, program and the reason for the end in
// a response.
import type { GenerationResult, Model } from "@ingle/engine";
import type { LmStudioPerformance, LmStudioStopReason } from "@ingle/protocol";
import { ingleVersion } from "../../../this-package.ts";
import { toTimings } from "../../../generation/usage.ts";
import type { FastifyRequest } from "fastify";
import { includes } from "../../../access/rights.ts";
import type { Lease } from "../../../models/slot/slot-interface.ts";
import { leaseModel, type InferenceOptions } from "../../../generation/inference.ts";

interface PerformanceOptions {
  model: Model;
  /** Maximum number of tokens per reply; -1 or undefined for no limit. */
  maxTokens: number | undefined;
  repliesPerPrompt?: number | undefined;
}

/** With several replies, the time to the first token and the stop reason are those of the first. */
export function toPerformance(
  results: readonly GenerationResult[],
  { model: { info }, maxTokens, repliesPerPrompt }: PerformanceOptions,
): LmStudioPerformance {
  const { predicted_ms, predicted_per_second } = toTimings(results, repliesPerPrompt);
  const [first] = results;
  if (first === undefined) throw new Error("A response must have at least one reply.");
  return {
    stats: {
      tokens_per_second: predicted_per_second,
      time_to_first_token: secondsToFirstToken(first),
      generation_time: predicted_ms / 1000,
      stop_reason: toStopReason(first, maxTokens),
    },
    model_info: {
      arch: info.architecture,
      quant: info.quantization,
      format: "gguf",
      context_length: info.contextLength,
    },
    runtime: { name: "ingle", version: ingleVersion(), supported_formats: ["gguf"] },
  };
}

export function secondsToFirstToken({ timings }: Pick<GenerationResult, "timings">): number {
  return (timings.queueMs + timings.promptMs) / 1000;
}

function toStopReason(
  { finishReason, stop, usage }: GenerationResult,
  maxTokens: number | undefined,
): LmStudioStopReason {
  if (finishReason === "tool_calls") return "toolCalls";
  if (finishReason === "stop") return stop === undefined ? "eosFound" : "stopStringFound";
  const isLimited = maxTokens !== undefined && maxTokens !== -1;
  return isLimited && usage.completionTokens >= maxTokens
    ? "maxPredictedTokensReached"
    : "contextLengthReached";
}

/** Throws what `leaseModel` throws. Only a request that may manage models can set the idle time. */
export async function leaseWithTtl(
  { model, ttl }: { model?: string | undefined; ttl?: number | undefined },
  request: FastifyRequest,
  options: Pick<InferenceOptions, "registry" | "variant"> & { places: number },
): Promise<Lease> {
  const { registry, places } = options;
  const lease = await leaseModel(request, options, { model, places });
  if (ttl === undefined) return lease;
  if (includes(request.right, "management")) (await registry.known(lease.id)).idle.choose(ttl * 1000);
  else request.ignore(["ttl"]);
  return lease;
}
