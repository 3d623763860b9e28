// Converts checked requests of llama-server's API for the engine. Prompts that mix texts and token ids, and biases of texts, need
// the model's tokenizer.
import { Sampling, type GenerationRequest, type Model, type Tokenizer } from "@ingle/engine";
import {
  repeatLastNMax,
  type LlamaServerGeneration,
  type LlamaServerPrompt,
  type LlamaServerSettings,
} from "@ingle/protocol";
import { toEngineOptions, toReports, toResponseFormat, toSampling } from "../engine-fields.ts";
import type { PromptOfModel } from "../protocol.ts";

/** What means a random seed in this API, apart from -1. */
const randomSeed = 0xffff_ffff;

type TextRequest = Extract<GenerationRequest, { prompt: unknown }>;

export function toTextRequest(
  body: LlamaServerGeneration,
  promptOf: (model: Model) => Promise<TextRequest["prompt"]>,
): PromptOfModel {
  const probabilities = probabilitiesOf(body);
  const common = {
    ...samplingOf(body),
    ...toEngineOptions(body),
    ...toReports(
      { ...body, return_tokens: returnsTokens(body) },
      probabilities > 0 ? probabilities : undefined,
    ),
    responseFormat: toResponseFormat(body),
  };
  return async (model) => ({ ...common, prompt: await promptOf(model) });
}

/** Texts alone and token ids alone stay unchanged. A mix that begins with a text gets the tokens that start a text. */
export async function tokensOf(
  prompt: LlamaServerPrompt,
  tokenizer: Tokenizer,
  { addSpecial = true, parseSpecial = true } = {},
): Promise<string | Int32Array> {
  if (!Array.isArray(prompt)) return prompt;
  const ids: number[] = [];
  for (const [index, piece] of prompt.entries()) {
    const isText = typeof piece === "string";
    const isFirst = index === 0;
    const tokens = isText
      ? await tokenizer.encode(piece, { addSpecial: addSpecial && isFirst, parseSpecial })
      : piece;
    for (const token of tokens) ids.push(token);
  }
  return Int32Array.from(ids);
}

export function probabilitiesOf({ n_probs: own, logprobs: other = 0 }: LlamaServerGeneration): number {
  return own ?? other;
}

/** Whether the ids of the reply's tokens are returned. In streams, they always are. */
export function returnsTokens(body: LlamaServerGeneration): boolean {
  return body.return_tokens === true || body.stream === true;
}

/** The generation settings, as responses report them. `request` is that of the engine. */
export function settingsOf(
  body: LlamaServerGeneration,
  request: Partial<GenerationRequest>,
): LlamaServerSettings {
  const sampling = Sampling.parse(request);
  const { maxTokens: limit = -1 } = request;
  return {
    n_predict: limit,
    max_tokens: limit,
    seed: sampling.seed === undefined || isRandom(sampling.seed) ? randomSeed : sampling.seed,
    temperature: sampling.temperature,
    top_k: sampling.topK,
    top_p: sampling.topP,
    min_p: sampling.minP,
    repeat_last_n: sampling.repeatLastN,
    repeat_penalty: sampling.repetitionPenalty,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    stop: request.stop ?? [],
    grammar: body.grammar ?? "",
    n_probs: probabilitiesOf(body),
    ignore_eos: body.ignore_eos ?? false,
    stream: body.stream ?? false,
    timings_per_token: body.timings_per_token ?? false,
    post_sampling_probs: false,
    samplers: sampling.samplers,
    dynatemp_range: sampling.dynatempRange,
    dynatemp_exponent: sampling.dynatempExponent,
    typical_p: sampling.typicalP,
    top_n_sigma: sampling.topNSigma,
    xtc_probability: sampling.xtcProbability,
    xtc_threshold: sampling.xtcThreshold,
    dry_multiplier: sampling.dryMultiplier,
    dry_base: sampling.dryBase,
    dry_allowed_length: sampling.dryAllowedLength,
    dry_penalty_last_n: sampling.dryPenaltyLastN,
    dry_sequence_breakers: sampling.drySequenceBreakers,
    mirostat: sampling.mirostat,
    mirostat_tau: sampling.mirostatTau,
    mirostat_eta: sampling.mirostatEta,
    adaptive_target: sampling.adaptiveTarget,
    adaptive_decay: sampling.adaptiveDecay,
    min_keep: 0,
    n_keep: 0,
    lora: (body.lora ?? []).map(({ id, scale }) => ({ id, scale })),
  };
}

function samplingOf(body: LlamaServerGeneration) {
  const { seed, repeat_last_n: lastN } = body;
  return toSampling({
    ...body,
    max_tokens: limitOf(body),
    max_completion_tokens: undefined,
    repetition_penalty: undefined,
    repeat_last_n: lastN === -1 ? repeatLastNMax : lastN,
    seed: isRandom(seed) ? -1 : seed,
  });
}

function isRandom(seed: number | undefined): boolean {
  return seed === -1 || seed === randomSeed;
}

function limitOf({
  n_predict,
  max_tokens,
  max_completion_tokens,
}: LlamaServerGeneration): number | undefined {
  return n_predict ?? max_completion_tokens ?? max_tokens;
}
