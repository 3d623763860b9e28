// The responses of /v1/messages: a message, complete or as events, the token count of a prompt, and errors: the ordinary error
// body with the fields and types that Anthropic's clients read.
import { z } from "zod";

import { anthropicErrorType, ErrorBody, isWireErrorCode } from "../errors.ts";
import { responseObject } from "../fields/field.ts";

/** Why a reply ended; null in the first event of a stream. */
export const StopReason = z.enum(["end_turn", "max_tokens", "stop_sequence", "tool_use"]).nullable();
export type StopReason = z.infer<typeof StopReason>;

/** Tokens of the prompt (the sum of the first three) and the reply. */
export const MessageUsage = responseObject("MessageUsage", {
  input_tokens: z.int().describe("Tokens of the prompt that were computed."),
  cache_creation_input_tokens: z.int().describe("Always 0: the prefix cache is not billed."),
  cache_read_input_tokens: z.int().describe("Tokens of the prompt that came from the prefix cache."),
  output_tokens: z.int(),
});
export type MessageUsage = z.infer<typeof MessageUsage>;

const TextBlock = z.object({ type: z.literal("text"), text: z.string() });
const ThinkingBlock = z.object({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string().describe("Always empty: the server signs nothing."),
});
const ToolUseBlock = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});

/** A block of a reply: text, thinking or a tool call. */
export const ContentBlock = z
  .discriminatedUnion("type", [TextBlock, ThinkingBlock, ToolUseBlock])
  .meta({ id: "ContentBlock" });
export type ContentBlock = z.infer<typeof ContentBlock>;

/** The response if `stream` is not true. */
export const AnthropicMessage = responseObject("AnthropicMessage", {
  id: z.string().describe("msg_…"),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string(),
  content: z.array(ContentBlock),
  stop_reason: StopReason,
  stop_sequence: z.string().nullable(),
  usage: MessageUsage,
});
export type AnthropicMessage = z.infer<typeof AnthropicMessage>;

const ContentDelta = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text_delta"), text: z.string() }),
  z.object({ type: z.literal("thinking_delta"), thinking: z.string() }),
  z.object({ type: z.literal("signature_delta"), signature: z.string() }),
  z.object({ type: z.literal("input_json_delta"), partial_json: z.string() }),
]);
export type ContentDelta = z.infer<typeof ContentDelta>;

/** One event of a streamed response; its `type` is also the name of the event. */
export const MessageStreamEvent = z
  .discriminatedUnion("type", [
    /** The message without content, with the prompt's tokens as far as they are known. */
    z.object({ type: z.literal("message_start"), message: AnthropicMessage }),
    z.object({ type: z.literal("content_block_start"), index: z.int(), content_block: ContentBlock }),
    z.object({ type: z.literal("content_block_delta"), index: z.int(), delta: ContentDelta }),
    z.object({ type: z.literal("content_block_stop"), index: z.int() }),
    z.object({
      type: z.literal("message_delta"),
      delta: z.object({ stop_reason: StopReason, stop_sequence: z.string().nullable() }),
      usage: MessageUsage,
    }),
    z.object({ type: z.literal("message_stop") }),
  ])
  .meta({ id: "MessageStreamEvent" });
export type MessageStreamEvent = z.infer<typeof MessageStreamEvent>;

/** The response of `POST /v1/messages/count_tokens`. */
export const TokenCount = responseObject("TokenCount", { input_tokens: z.int() });
export type TokenCount = z.infer<typeof TokenCount>;

const ErrorDetails = z.object({ error_code: z.string(), unsupported: z.array(z.string()) });

/** By the wrong field. Threads of Anthropic's client that may go on without a server's help then send everything themselves. */
const detailsByField: ReadonlyMap<string | null, z.infer<typeof ErrorDetails>> = new Map([
  ["thread", { error_code: "thread_unsupported_request", unsupported: ["thread"] }],
]);

/** The body of an error response, and the data of an `error` event. */
export const AnthropicErrorBody = responseObject("AnthropicErrorBody", {
  type: z.literal("error"),
  error: ErrorBody.shape.error.extend({
    details: ErrorDetails.optional().describe("What Anthropic's clients recognize some errors by."),
  }),
  request_id: z.string().describe("The same as the header x-request-id."),
});
export type AnthropicErrorBody = z.infer<typeof AnthropicErrorBody>;

/** The same body with Anthropic's type. */
export function anthropicErrorBody({ error }: ErrorBody, requestId: string): AnthropicErrorBody {
  const { code } = error;
  const type = isWireErrorCode(code) ? anthropicErrorType(code) : error.type;
  const details = detailsByField.get(error.param);
  return {
    type: "error",
    error: { ...error, type, ...(details === undefined ? {} : { details }) },
    request_id: requestId,
  };
}
