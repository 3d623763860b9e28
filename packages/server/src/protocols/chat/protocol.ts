// POST /v1/chat/completions: replies to a conversation.
import { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest } from "@ingle/protocol";
import { generationErrors } from "../../openapi/operation.ts";
import { toStreamOptions } from "../choice-chunks.ts";
import { fieldNames } from "../engine-fields.ts";
import type { GenerationProtocol } from "../protocol.ts";
import { ignoredParts, toChatRequest } from "./request.ts";
import { toChunks, toCompletion } from "./response.ts";

export const chatCompletions: GenerationProtocol<ChatCompletionRequest> = {
  path: "/v1/chat/completions",
  body: ChatCompletionRequest,
  operation: {
    summary: "A reply to a conversation, whole or streamed",
    answers: { 200: ChatCompletion },
    event: ChatCompletionChunk,
    errors: [...generationErrors, "image_invalid", "image_not_supported"],
    example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
  },
  conventions: { fieldNames },
  idPrefix: "chatcmpl-",
  tracedAs: "chat",
  toEngine: (body, variant) => ({
    prompts: [toChatRequest(body, variant)],
    repliesPerPrompt: body.n,
    user: body.user,
    ignored: ignoredParts(body),
  }),
  respond: ({ body, head, generations }) => ({
    whole: async () => toCompletion(head, await Promise.all(generations)),
    events: () => toChunks(head, generations, toStreamOptions(body)),
  }),
};
