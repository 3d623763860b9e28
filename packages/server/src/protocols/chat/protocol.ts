// POST /v1/chat/completions: replies to a conversation. Converts a checked request for the engine.
import type { GenerationRequest } from "@ingle/engine";
import { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest } from "@ingle/protocol";
import { audioErrors, contentErrors, generationErrors } from "../../openapi/operation.ts";
import { toStreamOptions } from "../choice-chunks.ts";
import { textOfParts, type UnreadRequest } from "../content-parts.ts";
import {
  fieldNames,
  toEngineOptions,
  toReports,
  toResponseFormat,
  toSampling,
  toThinking,
} from "../engine-fields.ts";
import type { GenerationProtocol } from "../protocol.ts";
import { toMessages } from "./messages.ts";
import { toChunks, toCompletion, type ShownTokens } from "./response.ts";

export const chatCompletions: GenerationProtocol<ChatCompletionRequest> = {
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
    whole: async () => toCompletion(head, await Promise.all(generations), shownOf(body)),
    events: () => toChunks(head, generations, { ...toStreamOptions(body), ...shownOf(body) }),
  }),
};

/** Absent fields stay absent: their defaults are the engine's. */
export function toChatRequest(body: ChatCompletionRequest): UnreadRequest {
  return {
    ...toConversation(body),
    ...toSampling(body),
    ...toEngineOptions(body),
    prediction: body.prediction && textOfParts(body.prediction.content),
    ...toReports(body, alternativesOf(body)),
    responseFormat: toResponseFormat(body),
  };
}

/** How many alternatives are listed with each token's log probability; undefined if none is listed. llama-server's name wins. */
function alternativesOf({ n_probs: probabilities = 0, logprobs, top_logprobs }: ChatCompletionRequest) {
  if (probabilities > 0) return probabilities;
  return logprobs === true ? (top_logprobs ?? 0) : undefined;
}

export function shownOf(body: ChatCompletionRequest): ShownTokens {
  return { hasLogprobs: alternativesOf(body) !== undefined, hasTokens: body.return_tokens === true };
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
>;

export function toConversation(body: Conversation) {
  return {
    messages: toMessages(body.messages),
    ...toTools(body),
    parallelToolCalls: body.parallel_tool_calls,
    continueFinalMessage: body.continue_final_message,
    ...toThinking(body.reasoning_effort, body.chat_template_kwargs),
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
