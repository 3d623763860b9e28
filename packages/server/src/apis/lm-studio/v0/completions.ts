// POST /api/v0/completions: a completion as in /v1, with LM Studio's statistics.
import {
  completionTokensDefault,
  LmStudioCompletion,
  LmStudioCompletionChunk,
  LmStudioCompletionRequest,
} from "@ingle/protocol";
import { toStreamOptions } from "../../../generation/choice-chunks.ts";
import { completionOptions, completions } from "../../openai/completions/completions.ts";
import { toChunks, toCompletion } from "../../openai/completions/response.ts";
import type { GenerationRoute } from "../../../generation/generation-route.ts";
import { leaseWithTtl, toPerformance } from "./additions.ts";

export const lmStudioCompletions: GenerationRoute<LmStudioCompletionRequest> = {
  ...completions,
  path: "/api/v0/completions",
  body: LmStudioCompletionRequest,
  operation: {
    ...completions.operation,
    summary: "Replies to one text or several, with LM Studio's statistics",
    responses: { 200: LmStudioCompletion },
    event: LmStudioCompletionChunk,
  },
  lease: leaseWithTtl,
  respond: (running) => {
    const { body, head, model, generations } = running;
    const { max_tokens: maxTokens = completionTokensDefault } = body;
    const options = completionOptions(running);
    const { repliesPerPrompt } = options;
    return {
      whole: async () => {
        const results = await Promise.all(generations);
        const performance = toPerformance(results, { model, maxTokens, repliesPerPrompt });
        return { ...(await toCompletion(head, results, options)), ...performance };
      },
      events: () =>
        toChunks(head, generations, {
          ...options,
          ...toStreamOptions(body),
          atEnd: (result) => toPerformance([result], { model, maxTokens }),
        }),
    };
  },
};
