// Converts checked requests of llama-server's API for the engine. Prompts that mix texts and token ids, and biases of texts, need
// the model's tokenizer.
import { Sampling, type GenerationRequest, type Model, type Tokenizer } from "@ingle/engine";
import {
  LlamaServerCompletionRequest,
  type LlamaServerGeneration,
  type LlamaServerPrompt,
  type LlamaServerSettings,
} from "@ingle/protocol";
import { toEngineOptions, toReports, toResponseFormat } from "../../generation/engine-fields.ts";
import { samplingReader, toFields } from "../../generation/sampling-fields.ts";
import type { PromptOfModel } from "../../generation/generation-route.ts";

/** What means a random seed in this API, apart from -1. */
const randomSeed = 0xffff_ffff;

type TextRequest = Extract<GenerationRequest, { prompt: unknown }>;

export function toTextRequest(
  body: LlamaServerGeneration,
  promptOf: (model: Model) => Promise<TextRequest["prompt"]>,
): PromptOfModel {
  const probabilities = probabilityCount(body);
  const common = {
    ...toSampling(body),
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
export async function encodePrompt(
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

export function probabilityCount({ n_probs: own, logprobs: other = 0 }: LlamaServerGeneration): number {
  return own ?? other;
}

/** Whether the ids of the reply's tokens are returned. In streams, they always are. */
export function returnsTokens(body: LlamaServerGeneration): boolean {
  return body.return_tokens === true || body.stream === true;
}

/** The generation settings, as responses report them. `request` is that of the engine. */
export function toSettings(
  body: LlamaServerGeneration,
  request: Partial<GenerationRequest>,
): LlamaServerSettings {
  const { seed, logitBias: _, ...sampling } = Sampling.parse(request);
  const { maxTokens: limit = -1 } = request;
  return {
    n_predict: limit,
    max_tokens: limit,
    seed: seed === undefined || isRandom(seed) ? randomSeed : seed,
    ...toFields(sampling),
    stop: request.stop ?? [],
    grammar: body.grammar ?? "",
    n_probs: probabilityCount(body),
    ignore_eos: body.ignore_eos ?? false,
    stream: body.stream ?? false,
    timings_per_token: body.timings_per_token ?? false,
    post_sampling_probs: false,
    min_keep: 0,
    n_keep: 0,
    lora: (body.lora ?? []).map(({ id, scale }) => ({ id, scale })),
  };
}

const readSampling = samplingReader(LlamaServerCompletionRequest);

function toSampling(body: LlamaServerGeneration) {
  const sampling = readSampling(body);
  return {
    ...sampling,
    maxTokens: body.n_predict ?? sampling.maxTokens,
    seed: isRandom(sampling.seed) ? -1 : sampling.seed,
  };
}

function isRandom(seed: number | undefined): boolean {
  return seed === -1 || seed === randomSeed;
}
