// POST /api/v0/completions: a completion as in /v1, with LM Studio's statistics.
import {
  completionTokensDefault,
  LmStudioCompletion,
  LmStudioCompletionChunk,
  LmStudioCompletionRequest,
} from "@ingle/protocol";
import { toStreamOptions } from "../choice-chunks.ts";
import { completionOptions, completions } from "../completions/protocol.ts";
import { toChunks, toCompletion } from "../completions/response.ts";
import type { GenerationProtocol } from "../protocol.ts";
import { leaseWithTtl } from "./lease.ts";
import { performanceOf } from "./performance.ts";

export const lmStudioCompletions: GenerationProtocol<LmStudioCompletionRequest> = {
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
        const performance = performanceOf(results, { model, maxTokens, repliesPerPrompt });
        return { ...(await toCompletion(head, results, options)), ...performance };
      },
      events: () =>
        toChunks(head, generations, {
          ...options,
          ...toStreamOptions(body),
          atEnd: (result) => performanceOf([result], { model, maxTokens }),
        }),
    };
  },
};
