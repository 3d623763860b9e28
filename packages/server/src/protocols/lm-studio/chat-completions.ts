// POST /api/v0/chat/completions: a chat completion as in /v1, with LM Studio's statistics.
import {
  LmStudioChatCompletion,
  LmStudioChatCompletionChunk,
  LmStudioChatCompletionRequest,
} from "@ingle/protocol";
import { chatCompletions, shownOf } from "../chat/protocol.ts";
import { toChunks, toCompletion } from "../chat/response.ts";
import { toStreamOptions } from "../choice-chunks.ts";
import type { GenerationProtocol } from "../protocol.ts";
import { leaseWithTtl } from "./lease.ts";
import { performanceOf } from "./performance.ts";

export const lmStudioChatCompletions: GenerationProtocol<LmStudioChatCompletionRequest> = {
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
    const shown = shownOf(body);
    const options = { model, maxTokens: body.max_completion_tokens ?? body.max_tokens };
    return {
      whole: async () => {
        const results = await Promise.all(generations);
        return { ...toCompletion(head, results, shown), ...performanceOf(results, options) };
      },
      events: () =>
        toChunks(head, generations, { ...toStreamOptions(body), ...shown }, (result) =>
          performanceOf([result], options),
        ),
    };
  },
};
