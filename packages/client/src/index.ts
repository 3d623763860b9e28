// The public names of @ingle/client.
export { ChatStream } from "./chat-stream.ts";
export type { CallOptions, ChatCompletions } from "./chat.ts";
export { Ingle } from "./client.ts";
export type { IngleOptions } from "./client.ts";
export { ApiError, ConnectionError, IngleError, StreamError, TimeoutError } from "./errors.ts";
export type { Models } from "./models.ts";
export type { Clock } from "./retry.ts";
export type {
  ChatCompletion,
  ChatCompletionBody,
  ChatCompletionChunk,
  ChatMessage,
  FinishReason,
  ModelEntry,
  ModelList,
  Usage,
} from "@ingle/protocol";
