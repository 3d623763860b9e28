// A checked request to /v1/responses in the engine's names. Used by routes/responses.ts.
import type { GenerationRequest } from "@ingle/engine";
import {
  isFunctionTool,
  logprobsIncludable,
  type ResponsesRequest,
  type ResponsesTextFormat,
} from "@ingle/protocol";
import type { UnreadRequest } from "../content-parts.ts";
import { toThinking } from "../thinking.ts";
import { toSampling } from "../engine-fields.ts";
import type { VariantName } from "../../variants.ts";
import { toMessages } from "./messages.ts";

type ChatRequest = Extract<GenerationRequest, { messages: unknown }>;

/** The wire's names of fields that the engine may find wrong. */
export const fieldNames = { responseFormat: "text.format", toolChoice: "tool_choice" };

/** Fields that are absent stay absent: their defaults are the engine's. */
export function toGenerationRequest(body: ResponsesRequest, variant: VariantName): UnreadRequest {
  // The names that a chat has for this limit are unknown fields here, and were not checked.
  const limits = { max_tokens: undefined, max_completion_tokens: body.max_output_tokens };
  return {
    messages: toMessages(body),
    ...toSampling({ ...body, ...limits }, variant),
    ignoreEos: body.ignore_eos,
    cachePrompt: body.cache_prompt,
    logprobs: toLogprobs(body),
    responseFormat: toResponseFormat(body.text?.format),
    ...toTools(body),
    parallelToolCalls: body.parallel_tool_calls,
    ...toThinking(body.reasoning?.effort, body.chat_template_kwargs),
  };
}

/** What the request asks for inside of its fields and the reply does not follow. */
export function leftOut({ tools = [], text }: ResponsesRequest): string[] {
  const types = new Set(tools.flatMap((tool) => (isFunctionTool(tool) ? [] : [tool.type])));
  const isVerbosityKept = (text?.verbosity ?? "medium") === "medium";
  return [...[...types].map((type) => `tools (${type})`), ...(isVerbosityKept ? [] : ["text.verbosity"])];
}

/** They are asked for by name, or by how many of them. */
function toLogprobs({ include = [], top_logprobs: count = 0 }: ResponsesRequest): number | undefined {
  return count > 0 || include.includes(logprobsIncludable) ? count : undefined;
}

function toResponseFormat(format: ResponsesTextFormat | undefined): GenerationRequest["responseFormat"] {
  if (format?.type === "json_object") return { type: "json" };
  if (format?.type !== "json_schema") return undefined;
  return { type: "json_schema", schema: format.schema, strict: format.strict };
}

/** The model is not told of tools that are not allowed. */
function toTools({
  tools: given,
  tool_choice: choice,
}: ResponsesRequest): Pick<ChatRequest, "tools" | "toolChoice"> {
  const tools = given
    ?.filter(isFunctionTool)
    .map(({ name, description, parameters }) => ({ name, description, parameters }));
  if (typeof choice !== "object") return { tools, toolChoice: choice };
  if (choice.type === "function") return { tools, toolChoice: { name: choice.name } };
  const allowed = new Set(choice.tools.map(({ name }) => name));
  return { tools: tools?.filter(({ name }) => allowed.has(name)), toolChoice: choice.mode };
}
