// POST /api/chat: replies to a conversation in Ollama's form, complete or as one JSON object per line.
import { OllamaChatReply, OllamaChatRequest, OllamaError } from "@ingle/protocol";
import { jsonLine } from "../../http/event-stream.ts";
import { generationErrors } from "../../openapi/operation.ts";
import type { GenerationRoute, RunningRequest } from "../../generation/generation-route.ts";
import { ollamaConventions, ollamaErrorLine, ollamaStreaming } from "./conventions.ts";
import { ignoredOptions, toChatRequest } from "./engine-request.ts";
import { leaseOllamaModel, loadedOrUnloaded } from "./lease.ts";
import { toHead, toLogprobs, toToolCalls, toTotals } from "./response.ts";

export const ollamaChat: GenerationRoute<OllamaChatRequest> = {
  path: "/api/chat",
  body: OllamaChatRequest,
  operation: {
    summary: "A reply to a conversation in Ollama's form",
    responses: { 200: OllamaChatReply },
    event: OllamaChatReply,
    errors: [...generationErrors, "image_invalid", "image_not_supported"],
    errorBody: OllamaError,
    example: { messages: [{ role: "user", content: "What is the capital of France?" }], stream: false },
  },
  conventions: ollamaConventions,
  streaming: ollamaStreaming,
  idPrefix: "ollama-",
  tracedAs: "chat",
  respondDirectly: async (body, request, options) => {
    if ((body.messages ?? []).length > 0) return undefined;
    const message = { role: "assistant", content: "" } as const;
    return { ...(await loadedOrUnloaded(body, request, options)), message } satisfies OllamaChatReply;
  },
  lease: leaseOllamaModel,
  toEngine: (body) => ({
    prompts: [toChatRequest(body)],
    ignored: ignoredOptions(body.options),
  }),
  respond: (running) => ({
    whole: () => toReply(running),
    events: () => toLines(running),
    errorEvents: ollamaErrorLine,
  }),
};

async function toReply(running: RunningRequest<OllamaChatRequest>): Promise<OllamaChatReply> {
  const result = await running.generation;
  const calls = toToolCalls(result.toolCalls);
  return {
    ...toHead(running),
    message: {
      role: "assistant",
      content: result.text,
      ...(result.reasoning === "" ? {} : { thinking: result.reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    ...toLogprobs(result.logprobs),
    ...toTotals(running, result),
  };
}

/** Calls are sent once they are complete, before the last line. Throws what the generation throws. */
async function* toLines(running: RunningRequest<OllamaChatRequest>): AsyncGenerator<string, void, undefined> {
  const line = (message: Partial<OllamaChatReply["message"]>, rest: Partial<OllamaChatReply>): string =>
    jsonLine({
      ...toHead(running),
      message: { role: "assistant", content: "", ...message },
      done: false,
      ...rest,
    } satisfies OllamaChatReply);
  for await (const { text, reasoning, logprobs } of running.generation) {
    if (text === "" && reasoning === undefined && logprobs === undefined) continue;
    yield line(
      { content: text, ...(reasoning === undefined ? {} : { thinking: reasoning }) },
      toLogprobs(logprobs),
    );
  }
  const result = await running.generation;
  const calls = toToolCalls(result.toolCalls);
  if (calls.length > 0) yield line({ tool_calls: calls }, {});
  yield line({}, toTotals(running, result));
}
