// POST /v1/completions: continues one text or several. Converts a checked request for the engine.
import { promptLogprobsMax, type GenerationRequest, type Model } from "@ingle/engine";
import {
  Completion,
  CompletionChunk,
  CompletionRequest,
  completionTokensDefault,
  promptList,
} from "@ingle/protocol";
import { generationErrors } from "../../../openapi/operation.ts";
import { WireError } from "../../../wire-error.ts";
import { promptText } from "../../../generation/token-texts.ts";
import { toStreamOptions } from "../../../generation/choice-chunks.ts";
import {
  fieldNames,
  toEngineOptions,
  toReports,
  toResponseFormat,
} from "../../../generation/engine-fields.ts";
import { toSampling } from "../../../generation/sampling-fields.ts";
import type { GenerationRoute, Prompt, RunningRequest } from "../../../generation/generation-route.ts";
import { type CompletionOptions, toChunks, toCompletion } from "./response.ts";

export const completions: GenerationRoute<CompletionRequest> = {
  path: "/v1/completions",
  body: CompletionRequest,
  operation: {
    summary: "Replies to one text or several, whole or streamed",
    responses: { 200: Completion },
    event: CompletionChunk,
    errors: generationErrors,
    example: { prompt: "The capital of France is", max_tokens: 8 },
  },
  conventions: { fieldNames },
  idPrefix: "cmpl-",
  tracedAs: "text_completion",
  toEngine: (body) => ({
    prompts: toPrompts(body),
    repliesPerPrompt: generatedPerPrompt(body),
    user: body.user,
    defaults: { maxTokens: completionTokensDefault },
  }),
  respond: (running) => {
    const { body, head, generations } = running;
    const options = completionOptions(running);
    return {
      whole: async () => toCompletion(head, await Promise.all(generations), options),
      events: () => toChunks(head, generations, { ...options, ...toStreamOptions(body) }),
    };
  },
};

export function completionOptions({ body, model }: RunningRequest<CompletionRequest>): CompletionOptions {
  const { n: returnedPerPrompt = 1, echo = false } = body;
  const repliesPerPrompt = generatedPerPrompt(body);
  const prompts = promptList(body.prompt);
  return {
    repliesPerPrompt,
    returnedPerPrompt,
    hasLogprobs: countAlternatives(body) !== undefined,
    hasTokens: body.return_tokens === true,
    openingOf: async (index) => {
      const prompt = prompts[Math.floor(index / repliesPerPrompt)];
      return echo && prompt !== undefined ? promptText(prompt, model) : "";
    },
  };
}

/** How many alternatives are listed with each token's log probability; undefined if none is listed. llama-server's name wins. */
function countAlternatives({ n_probs: probabilities = 0, logprobs }: CompletionRequest): number | undefined {
  return probabilities > 0 ? probabilities : logprobs;
}

function generatedPerPrompt({ n = 1, best_of: bestOf = n }: CompletionRequest): number {
  return bestOf;
}

type TextRequest = Extract<GenerationRequest, { prompt: unknown }>;

/** One request per prompt. */
function toPrompts(body: CompletionRequest): readonly Prompt[] {
  const requests = toTextRequests(body);
  const logprobs = countAlternatives(body);
  if (body.echo !== true || logprobs === undefined) return requests;
  const count = promptLogprobsCounter((1 + logprobs) * generatedPerPrompt(body));
  return requests.map((request) => async (model: Model) => {
    const prompt = await model.promptTokens(request);
    count(prompt.length);
    return { ...request, prompt, promptLogprobs: logprobs };
  });
}

/** Counts the log probabilities of all prompts of a request, `ofEach` for each token. Throws `invalid_request` if they are too many. */
function promptLogprobsCounter(ofEach: number): (tokens: number) => void {
  let total = 0;
  return (tokens) => {
    total += tokens * ofEach;
    if (total <= promptLogprobsMax) return;
    const message =
      `With echo, there may be at most ${promptLogprobsMax} log probabilities: the tokens of all prompts, times logprobs + 1, ` +
      "times n or best_of. Send fewer prompts in one request.";
    throw new WireError("invalid_request", message, { param: "logprobs" });
  };
}

/** Absent fields stay absent: their defaults are the engine's. */
function toTextRequests(body: CompletionRequest): TextRequest[] {
  const common = {
    ...toSampling(body),
    suffix: body.suffix,
    ...toEngineOptions(body),
    // Replies are compared by their log probabilities.
    ...toReports(body, countAlternatives(body) ?? (generatedPerPrompt(body) > (body.n ?? 1) ? 0 : undefined)),
    responseFormat: toResponseFormat(body),
  };
  return promptList(body.prompt).map((prompt) => ({ ...common, prompt }));
}
