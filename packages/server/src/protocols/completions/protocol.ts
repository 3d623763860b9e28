// POST /v1/completions: continuations of one text or several.
import { Completion, CompletionChunk, CompletionRequest, promptsOf } from "@ingle/protocol";
import { generationErrors } from "../../openapi/operation.ts";
import { toStreamOptions } from "../choice-chunks.ts";
import { fieldNames } from "../engine-fields.ts";
import type { GenerationProtocol, RunningRequest } from "../protocol.ts";
import { promptText, toTextRequests } from "./request.ts";
import { toChunks, toCompletion, type CompletionOptions } from "./response.ts";

export const completions: GenerationProtocol<CompletionRequest> = {
  path: "/v1/completions",
  body: CompletionRequest,
  operation: {
    summary: "Replies to one text or several, whole or streamed",
    answers: { 200: Completion },
    event: CompletionChunk,
    errors: generationErrors,
    example: { prompt: "The capital of France is", max_tokens: 8 },
  },
  conventions: { fieldNames },
  idPrefix: "cmpl-",
  tracedAs: "text_completion",
  toEngine: (body, variant) => ({
    prompts: toTextRequests(body, variant),
    repliesPerPrompt: body.n,
    user: body.user,
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

function completionOptions({ body, model }: RunningRequest<CompletionRequest>): CompletionOptions {
  const { n: repliesPerPrompt = 1, echo = false } = body;
  const prompts = promptsOf(body.prompt);
  return {
    repliesPerPrompt,
    openingOf: async (index) => {
      const prompt = prompts[Math.floor(index / repliesPerPrompt)];
      return echo && prompt !== undefined ? promptText(prompt, model) : "";
    },
  };
}
