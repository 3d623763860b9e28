// A checked request and its prepared prompt, in the form of the native engine.
import { invalidRequest } from "./errors.ts";
import type { CheckedGenerationRequest } from "./generation-request.ts";
import type { NativeConstraint, NativeImages, NativeRequest } from "./native.ts";
import { toNativeSampling } from "./native-sampling.ts";
import type { ReadReply } from "./reply-reader.ts";
import { promptLogprobsMax } from "./sampling.ts";

/** A prompt for the engine, with the rules and the parser of its reply. */
export interface PreparedPrompt {
  tokens: Int32Array;
  images: NativeImages | null;
  /** How many of the tokens stand for audio. */
  audioTokens: number;
  stops: string[];
  constraint: NativeConstraint | null;
  read?: ReadReply | undefined;
}

export interface PromptToSubmit extends PreparedPrompt {
  prediction: Int32Array;
  /** Of token ids. */
  bias: ReadonlyMap<number, number>;
}

export type RequestToSubmit = CheckedGenerationRequest & Pick<NativeRequest, "adapterScales" | "client">;

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
    client: request.client,
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
