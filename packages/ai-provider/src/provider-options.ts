// The fields of Ingle's requests that the AI SDK has no setting for, by their wire names: the values of `providerOptions.ingle`.
import type { ChatCompletionBody, CompletionBody, EmbeddingsBody, SamplingRequest } from "@ingle/protocol";

/** What the SDK's own settings say. */
type Settings =
  | "temperature"
  | "top_p"
  | "top_k"
  | "presence_penalty"
  | "frequency_penalty"
  | "max_tokens"
  | "max_completion_tokens"
  | "stop"
  | "seed";

type Sampling = Exclude<keyof SamplingRequest, Settings> | "cache_prompt" | "ignore_eos" | "user";

/** For `chatModel`: `{ providerOptions: { ingle: { min_p: 0.05 } satisfies IngleChatOptions } }`. */
export type IngleChatOptions = Pick<
  ChatCompletionBody,
  Sampling | "chat_template_kwargs" | "grammar" | "parallel_tool_calls" | "reasoning_effort"
>;

/** For `completionModel`. */
export type IngleCompletionOptions = Pick<CompletionBody, Sampling | "echo" | "grammar" | "suffix">;

/** For `embeddingModel`. */
export type IngleEmbeddingOptions = Pick<EmbeddingsBody, "dimensions" | "user">;
