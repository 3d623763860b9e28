// Converts fields that several protocols share for the engine: sampling, thinking and the response format. The only place where
// wire names (`repeat_penalty`, `max_tokens`, …) become the engine's.
import type { GenerationRequest } from "@ingle/engine";
import {
  repeatLastNMax,
  type ChatCompletionRequest,
  type ReasoningEffort,
  type SamplingRequest,
  type StructuredOutputs,
} from "@ingle/protocol";

/** Absent fields stay absent: sampling-defaults.ts and the engine have their defaults. */
export function toSampling(body: SamplingRequest) {
  return {
    // Only the likeliest token is left: greedy sampling.
    temperature: body.top_p === 0 ? 0 : body.temperature,
    topK: body.top_k,
    topP: body.top_p === 0 ? 1 : body.top_p,
    minP: body.min_p,
    repetitionPenalty: body.repetition_penalty ?? body.repeat_penalty,
    repeatLastN: body.repeat_last_n,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    seed: toSeed(body.seed),
    logitBias: body.logit_bias,
    typicalP: body.typical_p,
    topNSigma: body.top_n_sigma,
    xtcProbability: body.xtc_probability,
    xtcThreshold: body.xtc_threshold,
    dynatempRange: body.dynatemp_range,
    dynatempExponent: body.dynatemp_exponent,
    dryMultiplier: body.dry_multiplier,
    dryBase: body.dry_base,
    dryAllowedLength: body.dry_allowed_length,
    dryPenaltyLastN: body.dry_penalty_last_n === -1 ? repeatLastNMax : body.dry_penalty_last_n,
    drySequenceBreakers: body.dry_sequence_breakers,
    mirostat: body.mirostat,
    mirostatTau: body.mirostat_tau,
    mirostatEta: body.mirostat_eta,
    adaptiveTarget: body.adaptive_target,
    adaptiveDecay: body.adaptive_decay,
    samplers: body.samplers,
    minTokens: body.min_tokens,
    maxTokens: body.max_completion_tokens ?? body.max_tokens,
    stop: toStops(body.stop),
  } satisfies Partial<GenerationRequest>;
}

interface EngineFields {
  ignore_eos?: boolean | undefined;
  cache_prompt?: boolean | undefined;
  lora?: GenerationRequest["adapters"];
  id_slot?: number | undefined;
}

/** llama.cpp's fields besides sampling. */
export function toEngineOptions({ ignore_eos, cache_prompt, lora, id_slot }: EngineFields) {
  return {
    ignoreEos: ignore_eos,
    cachePrompt: cache_prompt,
    adapters: lora,
    idSlot: id_slot === -1 ? undefined : id_slot,
  } satisfies Partial<GenerationRequest>;
}

/** An empty stop string stops nothing. */
function toStops(stop: SamplingRequest["stop"]): string[] | undefined {
  const stops = typeof stop === "string" ? [stop] : stop;
  return stops?.filter((text) => text !== "");
}

/** JSON may contain larger integers than the engine accepts: they always wrap around to the same seed. */
function toSeed(seed: number | undefined): number | undefined {
  return seed === undefined || Number.isSafeInteger(seed) ? seed : seed % Number.MAX_SAFE_INTEGER;
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

/** The effort `none` disables thinking. `enable_thinking`, the name in most templates, takes precedence. */
export function toThinking(
  effort: ReasoningEffort | undefined,
  templateKwargs: NonNullable<ChatCompletionRequest["chat_template_kwargs"]> = {},
): Pick<ChatRequest, "thinking" | "templateArguments"> {
  const { enable_thinking: isEnabled, ...kwargs } = templateKwargs;
  const named = effort === undefined ? undefined : efforts[effort];
  return {
    thinking:
      typeof isEnabled === "boolean" ? isEnabled : effort === undefined ? undefined : effort !== "none",
    templateArguments: named === undefined ? kwargs : { reasoning_effort: named, ...kwargs },
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
  "responseFormat.grammar": "grammar",
  "responseFormat.regex": "structured_outputs",
  "responseFormat.choice": "structured_outputs",
  responseFormat: "response_format",
  toolChoice: "tool_choice",
  idSlot: "id_slot",
  minTokens: "min_tokens",
  promptLogprobs: "logprobs",
  logitBias: "logit_bias",
};
