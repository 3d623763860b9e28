// POST /completion: continues one prompt or several, in llama-server's form.
import {
  LlamaServerChunk,
  LlamaServerCompletion,
  LlamaServerCompletionRequest,
  LlamaServerError,
} from "@ingle/protocol";
import { z } from "zod";
import { generationErrors } from "../../openapi/operation.ts";
import { promptText } from "../../generation/token-texts.ts";
import type { GenerationRoute } from "../../generation/generation-route.ts";
import { llamaServerConventions } from "./conventions.ts";
import { toTextRequest, encodePrompt } from "./engine-request.ts";
import { toResponse } from "./response.ts";

const reply = z.union([LlamaServerCompletion, z.array(LlamaServerCompletion)]);

export const llamaServerCompletion: GenerationRoute<LlamaServerCompletionRequest> = {
  path: "/completion",
  body: LlamaServerCompletionRequest,
  operation: {
    summary: "Replies to one prompt or several in llama-server's form",
    responses: { 200: reply },
    event: z.union([LlamaServerChunk, LlamaServerCompletion]),
    errors: generationErrors,
    errorBody: LlamaServerError,
    example: { prompt: "The capital of France is", n_predict: 8 },
  },
  conventions: llamaServerConventions,
  idPrefix: "llama-server-",
  tracedAs: "text_completion",
  toEngine: (body) => ({
    prompts: body.prompt.map((prompt) =>
      toTextRequest(body, ({ tokenizer }) => encodePrompt(prompt, tokenizer)),
    ),
    repliesPerPrompt: repliesPerPrompt(body),
  }),
  respond: (running) => {
    const { body, model } = running;
    return toResponse(running, async (index) => {
      const prompt = body.prompt[Math.floor(index / repliesPerPrompt(body))] ?? "";
      return promptText(await encodePrompt(prompt, model.tokenizer), model);
    });
  },
};

function repliesPerPrompt({ n_cmpl: own, n = 1 }: LlamaServerCompletionRequest): number {
  return own ?? n;
}
