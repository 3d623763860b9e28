// The fields of Ingle's requests that the AI SDK has no setting for, by their wire names: the values of `providerOptions.ingle`.
import type { ChatCompletionBody, CompletionBody, EmbeddingsBody } from "@ingle/protocol";

type Sampling =
  | "cache_prompt"
  | "ignore_eos"
  | "logit_bias"
  | "min_p"
  | "repeat_last_n"
  | "repeat_penalty"
  | "user";

/** For `chatModel`: `{ providerOptions: { ingle: { min_p: 0.05 } satisfies IngleChatOptions } }`. */
export type IngleChatOptions = Pick<
  ChatCompletionBody,
  Sampling | "chat_template_kwargs" | "grammar" | "parallel_tool_calls" | "reasoning_effort"
>;

/** For `completionModel`. */
export type IngleCompletionOptions = Pick<CompletionBody, Sampling | "echo" | "grammar" | "suffix">;

/** For `embeddingModel`. */
export type IngleEmbeddingOptions = Pick<EmbeddingsBody, "dimensions" | "user">;
