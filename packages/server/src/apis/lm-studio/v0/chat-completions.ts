// POST /api/v0/chat/completions: a chat completion as in /v1, with LM Studio's statistics.
import {
  LmStudioChatCompletion,
  LmStudioChatCompletionChunk,
  LmStudioChatCompletionRequest,
} from "@ingle/protocol";
import { chatCompletions, toShownTokens } from "../../openai/chat/chat-completions.ts";
import { toChunks, toCompletion } from "../../openai/chat/response.ts";
import { toStreamOptions } from "../../../generation/choice-chunks.ts";
import type { GenerationRoute } from "../../../generation/generation-route.ts";
import { leaseWithTtl, toPerformance } from "./additions.ts";

export const lmStudioChatCompletions: GenerationRoute<LmStudioChatCompletionRequest> = {
  ...chatCompletions,
  path: "/api/v0/chat/completions",
  body: LmStudioChatCompletionRequest,
  operation: {
    ...chatCompletions.operation,
    summary: "A reply to a conversation, with LM Studio's statistics",
    responses: { 200: LmStudioChatCompletion },
    event: LmStudioChatCompletionChunk,
  },
  lease: leaseWithTtl,
  respond: ({ body, head, model, generations }) => {
    const shown = toShownTokens(body);
    const options = { model, maxTokens: body.max_completion_tokens ?? body.max_tokens };
    return {
      whole: async () => {
        const results = await Promise.all(generations);
        return { ...toCompletion(head, results, shown), ...toPerformance(results, options) };
      },
      events: () =>
        toChunks(head, generations, { ...toStreamOptions(body), ...shown }, (result) =>
          toPerformance([result], options),
        ),
    };
  },
};
