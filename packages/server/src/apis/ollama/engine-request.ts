// Converts checked requests of Ollama's API for the engine.
import type { GenerationRequest, Message, ToolCall } from "@ingle/engine";
import {
  ignoredOllamaOptions,
  type OllamaChatRequest,
  type OllamaGenerateRequest,
  type OllamaMessage,
  OllamaOptions,
} from "@ingle/protocol";
import {
  callIds,
  type CallIds,
  type UnreadContent,
  type UnreadMessage,
  type UnreadRequest,
} from "../../content/content-parts.ts";
import { toThinking } from "../../generation/engine-fields.ts";
import { samplingReader } from "../../generation/sampling-fields.ts";
import type { Prompt } from "../../generation/generation-route.ts";

type GenerationFields = Pick<OllamaChatRequest, "options" | "format" | "think" | "logprobs" | "top_logprobs">;

export function toChatRequest(body: OllamaChatRequest): UnreadRequest {
  const { messages = [], tools } = body;
  return {
    messages: toMessages(messages),
    tools: tools?.map(({ function: { name, description, parameters } }) => ({
      name,
      description,
      parameters,
    })),
    ...toOllamaThinking(body.think),
    ...toGeneration(body),
  };
}

/** With `raw` or a suffix, the prompt is the plain text, otherwise a user message. */
export function toPrompt(body: OllamaGenerateRequest): Prompt {
  const { prompt = "", suffix = "", system = "", images, raw = false } = body;
  const generation = toGeneration(body);
  if (raw || suffix !== "") return { prompt, suffix: suffix === "" ? undefined : suffix, ...generation };
  const user = { role: "user", content: toContent(prompt, images, "images") } as const;
  const messages = system === "" ? [user] : [{ role: "system", content: system } as const, user];
  return { messages, ...toOllamaThinking(body.think), ...generation };
}

/** Options that have no effect, by their places in the request. */
export function ignoredOptions(options?: OllamaOptions): string[] {
  return ignoredOllamaOptions(options).map((name) => `options.${name}`);
}

const toSampling = samplingReader(OllamaOptions);

function toGeneration({ options = {}, format, logprobs, top_logprobs }: GenerationFields) {
  const { num_predict: limit } = options;
  return {
    ...toSampling(options),
    maxTokens: limit === undefined ? undefined : limit > 0 ? limit : -1,
    logprobs: logprobs === true ? (top_logprobs ?? 0) : undefined,
    responseFormat: toResponseFormat(format),
  } satisfies Partial<GenerationRequest>;
}

function toResponseFormat(format: OllamaChatRequest["format"]): GenerationRequest["responseFormat"] {
  if (format === undefined || format === "") return undefined;
  return format === "json" ? { type: "json" } : { type: "json_schema", schema: format };
}

/** An effort also enables thinking, for templates that only have a switch. */
function toOllamaThinking(think: OllamaChatRequest["think"]) {
  if (think === undefined || typeof think === "boolean") return { thinking: think };
  return toThinking(think);
}

function toMessages(messages: readonly OllamaMessage[]): UnreadMessage[] {
  const ids = callIds();
  return messages.map((message, index) => toMessage(message, `messages[${index}]`, ids));
}

function toMessage(message: OllamaMessage, param: string, ids: CallIds): UnreadMessage {
  const { role, thinking, images, tool_name: name, tool_call_id: given = "" } = message;
  const content = toContent(message.content ?? "", images, `${param}.images`);
  if (role === "tool") return { role, content, toolCallId: ids.resultOf(given, name), name };
  if (role !== "assistant") return { role, content };
  return { role, content, reasoning: thinking, toolCalls: toToolCalls(message.tool_calls ?? [], ids) };
}

function toToolCalls(given: NonNullable<OllamaMessage["tool_calls"]>, ids: CallIds): Message["toolCalls"] {
  const calls = given.map(({ id = ids.next(), function: { name, arguments: args } }): ToolCall => ({
    id,
    name,
    arguments: JSON.stringify(args),
  }));
  ids.called(calls);
  return calls.length === 0 ? undefined : calls;
}

/** The image's type is detected from its bytes: Ollama's clients do not specify it. */
function toContent(text: string, images: readonly string[] = [], param: string): UnreadContent {
  if (images.length === 0) return text;
  const parts = images.map((base64, index) => ({
    type: "image" as const,
    url: base64.startsWith("data:") ? base64 : `data:image/png;base64,${base64}`,
    place: `${param}[${index}]`,
    param: `${param}[${index}]`,
  }));
  return [...parts, ...(text === "" ? [] : [{ type: "text" as const, text }])];
}
