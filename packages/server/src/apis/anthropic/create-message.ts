// POST /v1/messages: replies to a conversation in the form of Anthropic's API. Converts a checked request for the engine.
import type { GenerationRequest } from "@ingle/engine";
import {
  AnthropicErrorBody,
  anthropicErrorBody,
  AnthropicMessage,
  type CountTokensRequest,
  isCustomTool,
  unseenBlocks,
  MessagesRequest,
  MessageStreamEvent,
} from "@ingle/protocol";
import { namedEvent } from "../../http/event-stream.ts";
import { contentErrors, generationErrors } from "../../openapi/operation.ts";
import { WireError } from "../../wire-error.ts";
import type { UnreadMessage, UnreadRequest } from "../../content/content-parts.ts";
import { toThinking, toThinkingLimits } from "../../generation/engine-fields.ts";
import { samplingReader, toStops } from "../../generation/sampling-fields.ts";
import type { GenerationRoute, WireConventions } from "../../generation/generation-route.ts";
import { toEvents } from "./events.ts";
import { hasBillingLine, toMessages } from "./messages.ts";
import { toMessage, type MessageForm } from "./response.ts";
import { toTools } from "./tools.ts";

export const anthropicConventions = {
  fieldNames: {
    responseFormat: "output_config.format",
    toolChoice: "tool_choice",
    minTokens: "min_tokens",
    thinkingTokens: "thinking.budget_tokens",
  },
  errorShape: (error, { id }) => anthropicErrorBody(error, id),
  requestIdHeader: "request-id",
} satisfies WireConventions;

export const messages: GenerationRoute<MessagesRequest> = {
  path: "/v1/messages",
  body: MessagesRequest,
  operation: {
    summary: "A reply to a conversation in the shape of Anthropic's clients, whole or as events",
    responses: { 200: AnthropicMessage },
    event: MessageStreamEvent,
    errors: [...generationErrors, ...contentErrors],
    errorBody: AnthropicErrorBody,
    example: { max_tokens: 16, messages: [{ role: "user", content: "What is the capital of France?" }] },
  },
  conventions: anthropicConventions,
  idPrefix: "msg_",
  tracedAs: "chat",
  toEngine: (body) => ({
    prompts: [toMessagesRequest(body)],
    user: body.metadata?.user_id,
    ignored: ignoredParts(body),
  }),
  respond: ({ head, generation, request, body }) => ({
    whole: async () => toMessage(head, await generation, toForm(body)),
    events: () => toEvents(head, generation, toForm(body)),
    errorEvents: (error) => namedEvent("error", JSON.stringify(anthropicErrorBody(error, request.id))),
  }),
};

function toForm({ thinking }: MessagesRequest): MessageForm {
  return { omitsThinking: thinking?.display === "omitted" };
}

const toSampling = samplingReader(MessagesRequest);

/** Absent fields stay absent: their defaults are the engine's. Throws what `toPromptRequest` throws. */
export function toMessagesRequest(body: MessagesRequest): UnreadRequest {
  const { stop_sequences: stop, lora: adapters } = body;
  // The first event counts the cached tokens.
  const reportsPrompt = body.stream === true;
  return {
    ...toPromptRequest(body),
    ...toThinkingLimits(body, body.thinking?.budget_tokens),
    ...toSampling(body),
    stop: stop === undefined ? undefined : toStops(stop),
    adapters,
    reportsPrompt,
  };
}

/**
 * The fields that determine the prompt and the form of the reply, which is all that counting tokens needs. Throws
 * `invalid_request` if there is nothing to reply to.
 */
export function toPromptRequest(body: CountTokensRequest): UnreadRequest {
  return {
    ...withReplyStart(toMessages(body)),
    tools: toTools(body),
    ...toToolChoice(body.tool_choice),
    responseFormat: toResponseFormat(body),
    ...toThinking(body.output_config?.effort),
    // Anthropic's default is no thinking, whatever the template's default is.
    thinking: isThinking(body.thinking),
  };
}

/** With `between_tools`, hosted models do not think either: they only mark their remarks between calls. */
function isThinking(thinking: CountTokensRequest["thinking"]): boolean {
  return thinking?.type === "enabled" || thinking?.type === "adaptive";
}

/** Parts of the request that the prompt omits. */
export function ignoredParts({
  messages: turns,
  system = "",
  tools = [],
  thinking,
}: Pick<CountTokensRequest, "messages" | "system" | "tools" | "thinking">): string[] {
  const types = new Set(tools.flatMap((tool) => (isCustomTool(tool) ? [] : [tool.type])));
  const billing = hasBillingLine(system) ? ["system (x-anthropic-billing-header)"] : [];
  return [
    ...(thinking?.display === "updates" ? ["thinking.display"] : []),
    ...billing,
    ...[...types].map((type) => `tools (${type})`),
    ...[...unseenBlocks(turns)].map((type) => `messages (${type})`),
  ];
}

/** If the last message is the assistant's, the reply continues it. An empty one is dropped. */
function withReplyStart(turns: UnreadMessage[]): Pick<UnreadRequest, "messages" | "continueFinalMessage"> {
  const last = turns.at(-1);
  if (last?.role !== "assistant") return { messages: turns };
  if (last.content !== "" || last.reasoning !== undefined)
    return { messages: turns, continueFinalMessage: true };
  if (turns.length > 1) return { messages: turns.slice(0, -1) };
  throw new WireError("invalid_request", "messages must contain more than an empty assistant message", {
    param: "messages",
  });
}

function toToolChoice(
  choice: CountTokensRequest["tool_choice"],
): Pick<UnreadRequest, "toolChoice" | "parallelToolCalls"> {
  if (choice === undefined) return {};
  if (choice.type === "none") return { toolChoice: "none" };
  const parallelToolCalls = choice.disable_parallel_tool_use !== true;
  if (choice.type === "tool") return { toolChoice: { name: choice.name }, parallelToolCalls };
  return { toolChoice: choice.type === "any" ? "required" : "auto", parallelToolCalls };
}

/** Strict, as in Anthropic's API: a schema that cannot be enforced is refused. */
function toResponseFormat(body: CountTokensRequest): GenerationRequest["responseFormat"] {
  const format = body.output_config?.format ?? body.output_format;
  return format === undefined ? undefined : { type: "json_schema", schema: format.schema, strict: true };
}
