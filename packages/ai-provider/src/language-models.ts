// The models of @ai-sdk/openai-compatible, extended by the AI SDK's `topK`, which they ignore.
import {
  OpenAICompatibleChatLanguageModel,
  OpenAICompatibleCompletionLanguageModel,
} from "@ai-sdk/openai-compatible";
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamResult,
} from "@ai-sdk/provider";

/** The first part of a model's `provider`; its options are read from `providerOptions.ingle`. */
export const providerName = "ingle";

export class IngleChatModel extends OpenAICompatibleChatLanguageModel {
  override doGenerate(options: LanguageModelV3CallOptions): Promise<LanguageModelV3GenerateResult> {
    return super.doGenerate(withTopK(options));
  }

  override doStream(options: LanguageModelV3CallOptions): Promise<LanguageModelV3StreamResult> {
    return super.doStream(withTopK(options));
  }
}

export class IngleCompletionModel extends OpenAICompatibleCompletionLanguageModel {
  override doGenerate(options: LanguageModelV3CallOptions): Promise<LanguageModelV3GenerateResult> {
    return super.doGenerate(withTopK(options));
  }

  override doStream(options: LanguageModelV3CallOptions): Promise<LanguageModelV3StreamResult> {
    return super.doStream(withTopK(options));
  }
}

/** Passes `topK` on as a field of the request. */
function withTopK({
  topK,
  providerOptions,
  ...options
}: LanguageModelV3CallOptions): LanguageModelV3CallOptions {
  if (topK === undefined)
    return { ...options, ...(providerOptions === undefined ? {} : { providerOptions }) };
  return {
    ...options,
    providerOptions: {
      ...providerOptions,
      [providerName]: { top_k: topK, ...providerOptions?.[providerName] },
    },
  };
}
