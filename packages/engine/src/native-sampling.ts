// Converts a request's sampling options for the native engine.
import { randomInt } from "node:crypto";
import type { NativeSampling } from "./native.ts";
import { lettersOf } from "./samplers.ts";
import type { Limits, Sampling } from "./sampling.ts";

export function toNativeSampling(
  request: Sampling & Limits,
  bias: ReadonlyMap<number, number>,
): NativeSampling {
  return {
    temperature: request.temperature,
    topK: Math.max(0, request.topK),
    topP: request.topP,
    minP: request.minP,
    repeatPenalty: request.repetitionPenalty,
    repeatLastN: request.repeatLastN,
    presencePenalty: request.presencePenalty,
    frequencyPenalty: request.frequencyPenalty,
    seed: foldSeed(request.seed),
    logitBias: flatBias(bias),
    typicalP: request.typicalP,
    topNSigma: request.topNSigma,
    xtcProbability: request.xtcProbability,
    xtcThreshold: request.xtcThreshold,
    dynatempRange: request.dynatempRange,
    dynatempExponent: request.dynatempExponent,
    dryMultiplier: request.dryMultiplier,
    dryBase: request.dryBase,
    dryAllowedLength: request.dryAllowedLength,
    dryLastN: request.dryPenaltyLastN,
    dryBreakers: request.drySequenceBreakers,
    mirostat: request.mirostat,
    mirostatTau: request.mirostatTau,
    mirostatEta: request.mirostatEta,
    adaptiveTarget: request.adaptiveTarget,
    adaptiveDecay: request.adaptiveDecay,
    order: lettersOf(request.samplers),
    minTokens: request.minTokens,
  };
}

/** Folds any safe integer except -1 into the sampler's 32 bits; both halves count, so that large seeds differ too. */
function foldSeed(seed: number | undefined): number {
  if (seed === undefined || seed === -1) return randomInt(0x1_0000_0000);
  const high = Math.floor(seed / 0x1_0000_0000);
  return ((seed % 0x1_0000_0000) ^ high) >>> 0;
}

/** A bias of -100 bans a token, as in OpenAI's API. */
function flatBias(bias: ReadonlyMap<number, number>): Float64Array {
  const pairs = Array.from(bias, ([token, value]) => [token, value <= -100 ? -Infinity : value]);
  return Float64Array.from(pairs.flat());
}
