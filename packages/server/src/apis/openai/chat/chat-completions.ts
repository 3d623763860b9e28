// POST /v1/chat/completions: replies to a conversation. Converts a checked request for the engine.
import type { GenerationRequest, ToolCall } from "@ingle/engine";
import {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  type ChatMessage,
  type ContentPart,
} from "@ingle/protocol";
import { audioErrors, contentErrors, generationErrors } from "../../../openapi/operation.ts";
import { toStreamOptions } from "../../../generation/choice-chunks.ts";
import {
  textOfParts,
  type UnreadRequest,
  callIds,
  type CallIds,
  toContent,
  type UnreadMessage,
  type UnreadPart,
} from "../../../content/content-parts.ts";
import {
  fieldNames,
  toEngineOptions,
  toReports,
  toResponseFormat,
  toThinking,
  toThinkingLimits,
} from "../../../generation/engine-fields.ts";
import { toSampling } from "../../../generation/sampling-fields.ts";
import type { GenerationRoute } from "../../../generation/generation-route.ts";
import { toChunks, toCompletion, type ShownTokens } from "./response.ts";

export const chatCompletions: GenerationRoute<ChatCompletionRequest> = {
  path: "/v1/chat/completions",
  body: ChatCompletionRequest,
  operation: {
    summary: "A reply to a conversation, whole or streamed",
    responses: { 200: ChatCompletion },
    event: ChatCompletionChunk,
    errors: [...generationErrors, ...contentErrors, ...audioErrors],
    example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
  },
  conventions: { fieldNames },
  idPrefix: "chatcmpl-",
  tracedAs: "chat",
  toEngine: (body) => ({
    prompts: [toChatRequest(body)],
    repliesPerPrompt: body.n,
    user: body.user ?? body.safety_identifier,
    ignored: ignoredParts(body),
  }),
  respond: ({ body, head, generations }) => ({
    whole: async () => toCompletion(head, await Promise.all(generations), toShownTokens(body)),
    events: () => toChunks(head, generations, { ...toStreamOptions(body), ...toShownTokens(body) }),
  }),
};

/** Absent fields stay absent: their defaults are the engine's. */
export function toChatRequest(body: ChatCompletionRequest): UnreadRequest {
  return {
    ...toConversation(body),
    ...toThinkingLimits(body, body.reasoning?.max_tokens),
    ...toSampling(body),
    ...toEngineOptions(body),
    prediction: body.prediction && textOfParts(body.prediction.content),
    ...toReports(body, countAlternatives(body)),
    responseFormat: toResponseFormat(body),
  };
}

/** How many alternatives are listed with each token's log probability; undefined if none is listed. llama-server's name wins. */
function countAlternatives({ n_probs: probabilities = 0, logprobs, top_logprobs }: ChatCompletionRequest) {
  if (probabilities > 0) return probabilities;
  return logprobs === true ? (top_logprobs ?? 0) : undefined;
}

export function toShownTokens(body: ChatCompletionRequest): ShownTokens {
  return { hasLogprobs: countAlternatives(body) !== undefined, hasTokens: body.return_tokens === true };
}

/** Fields inside the messages that the response ignores. */
export function ignoredParts({ messages }: Pick<ChatCompletionRequest, "messages">): string[] {
  const asksForDetail = messages.some(
    ({ content }) =>
      Array.isArray(content) &&
      content.some((part) => part.type === "image_url" && (part.image_url.detail ?? "auto") !== "auto"),
  );
  return asksForDetail ? ["image_url.detail"] : [];
}

type ChatRequest = Extract<GenerationRequest, { messages: unknown }>;

/** The fields that determine the prompt. */
export type Conversation = Pick<
  ChatCompletionRequest,
  | "messages"
  | "tools"
  | "tool_choice"
  | "parallel_tool_calls"
  | "reasoning_effort"
  | "chat_template_kwargs"
  | "continue_final_message"
> &
  Partial<Pick<ChatCompletionRequest, "reasoning">>;

export function toConversation(body: Conversation) {
  return {
    messages: toMessages(body.messages),
    ...toTools(body),
    parallelToolCalls: body.parallel_tool_calls,
    continueFinalMessage: body.continue_final_message,
    ...toThinking(body.reasoning_effort ?? body.reasoning?.effort, body.chat_template_kwargs),
  } satisfies UnreadRequest;
}

/** The prompt contains only the allowed tools. */
function toTools({
  tools: given,
  tool_choice: choice,
}: Conversation): Pick<ChatRequest, "tools" | "toolChoice"> {
  const tools = given?.map(({ function: { name, description, parameters, strict } }) => ({
    name,
    description,
    parameters,
    strict,
  }));
  if (typeof choice !== "object") return { tools, toolChoice: choice };
  if (choice.type === "function") return { tools, toolChoice: { name: choice.function.name } };
  const { mode, tools: named } = choice.allowed_tools;
  const allowed = new Set(named.map((tool) => tool.function.name));
  return { tools: tools?.filter(({ name }) => allowed.has(name)), toolChoice: mode };
}

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;
type AssistantPart = Exclude<AssistantMessage["content"], string | undefined>[number];

export function toMessages(messages: readonly ChatMessage[]): UnreadMessage[] {
  const ids = callIds();
  return messages.map((message, index) => toMessage(message, `messages[${index}]`, ids));
}

/** `developer` is the newer name of `system`, and `function` the older one of `tool`. */
function toMessage(message: ChatMessage, param: string, ids: CallIds): UnreadMessage {
  if (message.role === "assistant") return fromAssistant(message, param, ids);
  const content = toContent(message.content ?? "", `${param}.content`, toPart);
  if (message.role === "developer") return { role: "system", content };
  if (message.role !== "tool" && message.role !== "function") return { role: message.role, content };
  const name = message.name === "" ? undefined : message.name;
  const given = message.role === "tool" ? (message.tool_call_id ?? "") : "";
  return { role: "tool", content, toolCallId: ids.resultOf(given, name), name };
}

function fromAssistant(message: AssistantMessage, param: string, ids: CallIds): UnreadMessage {
  const { content = message.refusal ?? "", reasoning_content: reasoning } = message;
  return {
    role: "assistant",
    content: toContent(content, `${param}.content`, toAssistantPart),
    reasoning,
    toolCalls: toToolCalls(message, ids),
  };
}

function toToolCalls(message: AssistantMessage, ids: CallIds): ToolCall[] | undefined {
  const { tool_calls: calls = [], function_call: older } = message;
  const toolCalls = calls.map(({ id, function: { name, arguments: text } }) => ({
    id,
    name,
    arguments: text,
  }));
  if (older !== undefined && calls.length === 0)
    toolCalls.push({ id: ids.next(), name: older.name, arguments: older.arguments });
  ids.called(toolCalls);
  return toolCalls.length === 0 ? undefined : toolCalls;
}

function toAssistantPart(part: AssistantPart): UnreadPart {
  return { type: "text", text: part.type === "refusal" ? part.refusal : part.text };
}

function toPart(part: ContentPart, place: string): UnreadPart {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "image_url")
    return { type: "image", url: part.image_url.url, place, param: `${place}.image_url.url` };
  if (part.type === "input_audio")
    return { type: "audio", data: part.input_audio.data, place, param: `${place}.input_audio.data` };
  const { file_data: data, filename: name } = part.file;
  return { type: "document", data, name, param: `${place}.file.file_data` };
}
