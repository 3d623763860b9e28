// A checked chat request in the engine's names.
import type { GenerationRequest } from "@ingle/engine";
import type { ChatCompletionRequest } from "@ingle/protocol";
import type { UnreadRequest } from "../content-parts.ts";
import { toResponseFormat, toSampling, toThinking } from "../engine-fields.ts";
import type { VariantName } from "../../variants.ts";
import { toMessages } from "./messages.ts";

/** Fields that are absent stay absent: their defaults are the engine's. */
export function toChatRequest(body: ChatCompletionRequest, variant: VariantName): UnreadRequest {
  return {
    ...toConversation(body),
    ...toSampling(body, variant),
    ignoreEos: body.ignore_eos,
    cachePrompt: body.cache_prompt,
    logprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : undefined,
    responseFormat: toResponseFormat(body),
  };
}

/** What the request sets inside of its messages and the response ignores. */
export function ignoredParts({ messages }: Pick<ChatCompletionRequest, "messages">): string[] {
  const asksForDetail = messages.some(
    ({ content }) =>
      Array.isArray(content) &&
      content.some((part) => part.type === "image_url" && (part.image_url.detail ?? "auto") !== "auto"),
  );
  return asksForDetail ? ["image_url.detail"] : [];
}

type ChatRequest = Extract<GenerationRequest, { messages: unknown }>;

/** The fields that decide the prompt. */
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

/** The prompt holds only the tools that are allowed. */
function toTools({
  tools: given,
  tool_choice: choice,
}: Conversation): Pick<ChatRequest, "tools" | "toolChoice"> {
  const tools = given?.map(({ function: { name, description, parameters } }) => ({
    name,
    description,
    parameters,
  }));
  if (typeof choice !== "object") return { tools, toolChoice: choice };
  if (choice.type === "function") return { tools, toolChoice: { name: choice.function.name } };
  const { mode, tools: named } = choice.allowed_tools;
  const allowed = new Set(named.map((tool) => tool.function.name));
  return { tools: tools?.filter(({ name }) => allowed.has(name)), toolChoice: mode };
}
