// A checked request and its prepared prompt, in the form of the native engine.
import { invalidRequest } from "../base/errors.ts";
import type { CheckedGenerationRequest } from "./generation-request.ts";
import type {
  NativeConstraint,
  NativeImages,
  NativeRequest,
  NativeSampling,
  NativeThoughtRules,
} from "../native/addon.ts";
import type { ReadReply } from "./reply-reader.ts";
import { toNativeSalt } from "./cache-salt.ts";
import { promptLogprobsMax, type Limits, type Sampling } from "./sampling.ts";
import { randomInt } from "node:crypto";
import { isNumber, optionNames, toLetters, type NumberName } from "@ingle/generation-options";

/** A prompt for the engine, with the rules and the parser of its reply. */
export interface PreparedPrompt {
  tokens: Int32Array;
  images: NativeImages | null;
  /** How many of the tokens stand for audio. */
  audioTokens: number;
  stops: string[];
  constraint: NativeConstraint | null;
  thought: NativeThoughtRules;
  read?: ReadReply | undefined;
}

export interface PromptToSubmit extends PreparedPrompt {
  prediction: Int32Array;
  /** Of token ids. */
  bias: ReadonlyMap<number, number>;
}

export type RequestToSubmit = CheckedGenerationRequest &
  Pick<NativeRequest, "adapterScales" | "client" | "priority">;

/** How soon a request is served, compared with others. In the background, only while no other request is. */
export type Priority = keyof typeof priorities;

/** The native engine's numbers. */
export const priorities = { background: -2, low: -1, normal: 0, high: 1 } as const;

/**
 * `idSlot` is the slot that the request has taken. Throws `invalid_request` for log probabilities of a prompt that are too many, or of
 * images.
 */
export function toNativeRequest(
  request: RequestToSubmit,
  prompt: PromptToSubmit,
  idSlot: number,
): NativeRequest {
  refusePromptLogprobs(request, prompt);
  return {
    tokens: prompt.tokens,
    images: prompt.images,
    sampling: toNativeSampling(request, prompt.bias),
    // The engine computes a prompt together with the first token of a reply, which is dropped if no reply is wanted.
    maxTokens: request.maxTokens === 0 ? 1 : (request.maxTokens ?? -1),
    stops: [...request.stop, ...prompt.stops],
    ignoreEos: request.ignoreEos,
    // What is in the prefix cache has no logits any more.
    cachePrompt: request.cachePrompt && request.promptLogprobs === undefined,
    constraint: prompt.constraint,
    logprobs: request.logprobs ?? -1,
    adapterScales: request.adapterScales,
    prediction: prompt.prediction,
    reportsPrompt: request.reportsPrompt,
    promptLogprobs: request.promptLogprobs ?? -1,
    idSlot,
    cacheSalt: toNativeSalt(request.cacheSalt),
    client: request.client,
    priority: request.priority,
    thought: prompt.thought,
  };
}

function refusePromptLogprobs(
  { promptLogprobs }: CheckedGenerationRequest,
  { tokens, images }: PreparedPrompt,
): void {
  if (promptLogprobs === undefined) return;
  if (images !== null) throw invalidRequest("promptLogprobs", "the prompt must have no images and no audio.");
  if (tokens.length * (1 + promptLogprobs) <= promptLogprobsMax) return;
  const reason = `the prompt's ${tokens.length} tokens and their alternatives may be at most ${promptLogprobsMax} together.`;
  throw invalidRequest("promptLogprobs", reason);
}

const numberNames = optionNames.filter(isNumber);

function toNativeSampling(request: Sampling & Limits, bias: ReadonlyMap<number, number>): NativeSampling {
  return Object.assign(numbers(request), {
    topK: Math.max(0, request.topK),
    seed: foldSeed(request.seed),
    logitBias: flatBias(bias),
    drySequenceBreakers: request.drySequenceBreakers,
    samplers: toLetters(request.samplers),
  });
}

/** The options that are numbers, as they are. */
function numbers(request: Sampling & Limits): Record<NumberName, number> {
  const found: Partial<Record<NumberName, number>> = {};
  for (const name of numberNames) found[name] = request[name];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every name has its value now
  return found as Record<NumberName, number>;
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
