// A checked request to /v1/responses in the engine's names.
import type { GenerationRequest } from "@ingle/engine";
import {
  isFunctionTool,
  logprobsIncludable,
  type ResponsesRequest,
  type ResponsesTextFormat,
} from "@ingle/protocol";
import type { UnreadRequest } from "../content-parts.ts";
import { toSampling, toThinking } from "../engine-fields.ts";
import type { VariantName } from "../../variants.ts";
import { toMessages } from "./messages.ts";

type ChatRequest = Extract<GenerationRequest, { messages: unknown }>;

/** Fields that are absent stay absent: their defaults are the engine's. */
export function toResponsesRequest(body: ResponsesRequest, variant: VariantName): UnreadRequest {
  // A chat's names for this limit are unknown fields here, and were not checked.
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

/** What the request sets inside of its fields and the response ignores. */
export function ignoredParts({ tools = [], text }: ResponsesRequest): string[] {
  const types = new Set(tools.flatMap((tool) => (isFunctionTool(tool) ? [] : [tool.type])));
  const isVerbosityKept = (text?.verbosity ?? "medium") === "medium";
  return [...[...types].map((type) => `tools (${type})`), ...(isVerbosityKept ? [] : ["text.verbosity"])];
}

/** Requested by name in `include`, or by `top_logprobs`. */
function toLogprobs({ include = [], top_logprobs: count = 0 }: ResponsesRequest): number | undefined {
  return count > 0 || include.includes(logprobsIncludable) ? count : undefined;
}

function toResponseFormat(format: ResponsesTextFormat | undefined): GenerationRequest["responseFormat"] {
  if (format?.type === "json_object") return { type: "json" };
  if (format?.type !== "json_schema") return undefined;
  return { type: "json_schema", schema: format.schema, strict: format.strict };
}

/** The prompt holds only the tools that are allowed. */
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
