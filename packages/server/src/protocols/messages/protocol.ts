// POST /v1/messages: a reply to a conversation in the shape of Anthropic's clients.
import {
  AnthropicErrorBody,
  anthropicErrorBody,
  AnthropicMessage,
  MessagesRequest,
  MessageStreamEvent,
} from "@ingle/protocol";
import { namedEvent } from "../../http/event-stream.ts";
import { generationErrors } from "../../openapi/operation.ts";
import type { GenerationProtocol, WireConventions } from "../protocol.ts";
import { toEvents } from "./events.ts";
import { ignoredParts, toMessagesRequest } from "./request.ts";
import { toMessage } from "./response.ts";

export const anthropicConventions = {
  fieldNames: { responseFormat: "output_config.format", toolChoice: "tool_choice" },
  errorShape: (error, { id }) => anthropicErrorBody(error, id),
  requestIdHeader: "request-id",
} satisfies WireConventions;

export const messages: GenerationProtocol<MessagesRequest> = {
  path: "/v1/messages",
  body: MessagesRequest,
  operation: {
    summary: "A reply to a conversation in the shape of Anthropic's clients, whole or as events",
    answers: { 200: AnthropicMessage },
    event: MessageStreamEvent,
    errors: [...generationErrors, "image_invalid", "image_not_supported"],
    errorBody: AnthropicErrorBody,
    example: { max_tokens: 16, messages: [{ role: "user", content: "What is the capital of France?" }] },
  },
  conventions: anthropicConventions,
  idPrefix: "msg_",
  tracedAs: "chat",
  toEngine: (body, variant) => ({
    prompts: [toMessagesRequest(body, variant)],
    user: body.metadata?.user_id,
    ignored: ignoredParts(body),
  }),
  respond: ({ head, generation, requestId }) => ({
    whole: async () => toMessage(head, await generation),
    events: () => toEvents(head, generation),
    errorEvents: (error) => namedEvent("error", JSON.stringify(anthropicErrorBody(error, requestId))),
  }),
};
