// The models of @ai-sdk/openai-compatible, extended by what they ignore: the AI SDK's `topK`, and what version 7 of the AI SDK, whose
// models have another specification (v4), passes on to them: `reasoning`, and files that are texts.
import {
  OpenAICompatibleChatLanguageModel,
  OpenAICompatibleCompletionLanguageModel,
} from "@ai-sdk/openai-compatible";
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamResult,
} from "@ai-sdk/provider";
import type { IngleChatOptions } from "./provider-options.ts";

/** The first part of a model's `provider`; its options are read from `providerOptions.ingle`. */
export const providerName = "ingle";

export class IngleChatModel extends OpenAICompatibleChatLanguageModel {
  override doGenerate(options: LanguageModelV3CallOptions): Promise<LanguageModelV3GenerateResult> {
    return super.doGenerate(withTopK(fromV4(options)));
  }

  override doStream(options: LanguageModelV3CallOptions): Promise<LanguageModelV3StreamResult> {
    return super.doStream(withTopK(fromV4(options)));
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

/** Settings of models of the specification v4, which version 7 of the AI SDK adds to those of v3. */
type CallOptionsV4 = LanguageModelV3CallOptions & {
  reasoning?: "provider-default" | NonNullable<IngleChatOptions["reasoning_effort"]>;
};

/** Passes `reasoning` on as a field of the request, unless `providerOptions` have it. */
function fromV4({ reasoning, ...options }: CallOptionsV4): LanguageModelV3CallOptions {
  const prompt = options.prompt.map(withFilesOfV3);
  if (reasoning === undefined || reasoning === "provider-default") return { ...options, prompt };
  const { [providerName]: own = {}, ...others } = options.providerOptions ?? {};
  const isGiven = "reasoning_effort" in own || "reasoningEffort" in own;
  const fields = isGiven ? own : { reasoning_effort: reasoning, ...own };
  return { ...options, prompt, providerOptions: { ...others, [providerName]: fields } };
}

type Message = LanguageModelV3CallOptions["prompt"][number];

/** The data of a file may also be a text in v4; in v3 it is bytes. */
function withFilesOfV3(message: Message): Message {
  if (message.role !== "user") return message;
  const content = message.content.map((part) => {
    const text: unknown = part.type === "file" ? textIn(part.data) : undefined;
    if (part.type !== "file" || typeof text !== "string") return part;
    return { ...part, data: new TextEncoder().encode(text) };
  });
  return { ...message, content };
}

function textIn(data: unknown): unknown {
  if (typeof data !== "object" || data === null) return undefined;
  return Reflect.get(data, "type") === "text" ? Reflect.get(data, "text") : undefined;
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
