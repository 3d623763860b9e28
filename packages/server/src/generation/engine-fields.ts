// Converts fields that several APIs share for the engine, other than sampling (sampling-fields.ts): thinking, the response format, and
// llama.cpp's.
import type { GenerationRequest } from "@ingle/engine";
import type { ChatCompletionRequest, ReasoningEffort, StructuredOutputs } from "@ingle/protocol";
import { optionFields } from "./sampling-fields.ts";

interface EngineFields {
  ignore_eos?: boolean | undefined;
  cache_prompt?: boolean | undefined;
  cache_salt?: string | undefined;
  lora?: GenerationRequest["adapters"];
  id_slot?: number | undefined;
}

/** llama.cpp's fields besides sampling. */
export function toEngineOptions({ ignore_eos, cache_prompt, cache_salt, lora, id_slot }: EngineFields) {
  return {
    ignoreEos: ignore_eos,
    cachePrompt: cache_prompt,
    cacheSalt: cache_salt,
    adapters: lora,
    idSlot: id_slot === -1 ? undefined : id_slot,
  } satisfies Partial<GenerationRequest>;
}

/** Chat templates have three efforts; other values mean the nearest. */
const efforts = {
  none: undefined,
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
} as const satisfies Record<ReasoningEffort, string | undefined>;

type ChatRequest = Extract<GenerationRequest, { messages: unknown }>;

/** How much of a reply may be thought. The rest is left for the answer. */
const shares: Partial<Record<ReasoningEffort, number>> = { minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8 };

/** The effort `none` disables thinking. `enable_thinking`, the name in most templates, takes precedence. */
export function toThinking(
  effort: ReasoningEffort | undefined,
  templateKwargs: NonNullable<ChatCompletionRequest["chat_template_kwargs"]> = {},
): Pick<ChatRequest, "thinking" | "thinkingShare" | "templateArguments"> {
  const { enable_thinking: isEnabled, ...kwargs } = templateKwargs;
  const named = effort === undefined ? undefined : efforts[effort];
  return {
    thinking:
      typeof isEnabled === "boolean" ? isEnabled : effort === undefined ? undefined : effort !== "none",
    thinkingShare: effort === undefined ? undefined : shares[effort],
    templateArguments: named === undefined ? kwargs : { reasoning_effort: named, ...kwargs },
  };
}

type ThinkingLimitFields = Partial<
  Pick<
    ChatCompletionRequest,
    | "thinking_budget_tokens"
    | "reasoning_budget_tokens"
    | "reasoning_budget"
    | "thinking_budget"
    | "thinking_token_budget"
    | "reasoning_budget_message"
  >
>;

/** `ofApi` is the limit under the name of the API itself, which takes precedence. */
export function toThinkingLimits(
  body: ThinkingLimitFields,
  ofApi?: number,
): Pick<ChatRequest, "thinkingTokens" | "thinkingEnd"> {
  return {
    thinkingTokens:
      ofApi ??
      body.thinking_budget_tokens ??
      body.reasoning_budget_tokens ??
      body.reasoning_budget ??
      body.thinking_budget ??
      body.thinking_token_budget,
    thinkingEnd: body.reasoning_budget_message,
  };
}

interface ReportFields {
  stream?: boolean | undefined;
  return_progress?: boolean | undefined;
  return_tokens?: boolean | undefined;
}

/** What a response reports beside the reply: `alternatives` with each token's log probability; undefined for none. */
export function toReports(body: ReportFields, alternatives: number | undefined) {
  return {
    // The ids of tokens come with their log probabilities.
    logprobs: alternatives ?? (body.return_tokens === true ? 0 : undefined),
    reportsPrompt: body.stream === true && body.return_progress === true,
  };
}

type FormatFields = Pick<ChatCompletionRequest, "grammar" | "json_schema" | "response_format"> &
  Partial<Pick<ChatCompletionRequest, "structured_outputs">>;

/** A checked request has at most one schema, or a grammar; the empty grammar is none. */
export function toResponseFormat({
  grammar = "",
  json_schema: ownSchema,
  response_format: format,
  structured_outputs: structured,
}: FormatFields): GenerationRequest["responseFormat"] {
  if (structured !== undefined) return ofStructuredOutputs(structured);
  if (grammar !== "") return { type: "grammar", grammar };
  if (ownSchema !== undefined) return { type: "json_schema", schema: ownSchema };
  if (format?.type === "json_object") {
    const { schema = {} } = format;
    return Object.keys(schema).length === 0 ? { type: "json" } : { type: "json_schema", schema };
  }
  if (format?.type !== "json_schema") return undefined;
  const { schema, strict } = format.json_schema;
  return { type: "json_schema", schema, strict };
}

/** A checked field has exactly one of its kinds. */
function ofStructuredOutputs({
  json,
  regex,
  choice,
  grammar,
}: StructuredOutputs): GenerationRequest["responseFormat"] {
  if (json !== undefined) return { type: "json_schema", schema: json };
  if (regex !== undefined) return { type: "regex", pattern: regex };
  if (choice !== undefined) return { type: "choice", choices: choice };
  return grammar === undefined ? { type: "json" } : { type: "grammar", grammar };
}

/** The reverse, for errors: the names that chat completions and completions have for the engine's fields. */
export const fieldNames = {
  ...optionFields,
  "responseFormat.grammar": "grammar",
  "responseFormat.regex": "structured_outputs",
  "responseFormat.choice": "structured_outputs",
  responseFormat: "response_format",
  toolChoice: "tool_choice",
  thinkingTokens: "thinking_budget_tokens",
  thinkingEnd: "reasoning_budget_message",
  idSlot: "id_slot",
  promptLogprobs: "logprobs",
};
