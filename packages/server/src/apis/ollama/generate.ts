// POST /api/generate: replies to one prompt in Ollama's form, complete or as one JSON object per line.
import { OllamaError, OllamaGenerateReply, OllamaGenerateRequest } from "@ingle/protocol";
import { jsonLine } from "../../http/event-stream.ts";
import { generationErrors } from "../../openapi/operation.ts";
import type { GenerationRoute, RunningRequest } from "../../generation/generation-route.ts";
import { ollamaConventions, ollamaErrorLine, ollamaStreaming } from "./conventions.ts";
import { ignoredOptions, toPrompt } from "./engine-request.ts";
import { leaseOllamaModel, loadedOrUnloaded } from "./lease.ts";
import { toHead, toLogprobs, toTotals } from "./response.ts";

export const ollamaGenerate: GenerationRoute<OllamaGenerateRequest> = {
  path: "/api/generate",
  body: OllamaGenerateRequest,
  operation: {
    summary: "A reply to one prompt in Ollama's form",
    responses: { 200: OllamaGenerateReply },
    event: OllamaGenerateReply,
    errors: [...generationErrors, "image_invalid", "image_not_supported"],
    errorBody: OllamaError,
    example: { prompt: "What is the capital of France?", stream: false },
  },
  conventions: ollamaConventions,
  streaming: ollamaStreaming,
  idPrefix: "ollama-",
  tracedAs: "text_completion",
  respondDirectly: async (body, request, options) => {
    const { prompt = "", suffix = "", images = [] } = body;
    if (prompt !== "" || suffix !== "" || images.length > 0) return undefined;
    return {
      ...(await loadedOrUnloaded(body, request, options)),
      response: "",
    } satisfies OllamaGenerateReply;
  },
  lease: leaseOllamaModel,
  toEngine: (body) => ({
    prompts: [toPrompt(body)],
    ignored: ignoredOptions(body.options),
  }),
  respond: (running) => ({
    whole: () => toReply(running),
    events: () => toLines(running),
    errorEvents: ollamaErrorLine,
  }),
};

async function toReply(running: RunningRequest<OllamaGenerateRequest>): Promise<OllamaGenerateReply> {
  const result = await running.generation;
  return {
    ...toHead(running),
    response: result.text,
    ...(result.reasoning === "" ? {} : { thinking: result.reasoning }),
    ...toLogprobs(result.logprobs),
    ...toTotals(running, result),
  };
}

/** Throws what the generation throws. */
async function* toLines(
  running: RunningRequest<OllamaGenerateRequest>,
): AsyncGenerator<string, void, undefined> {
  for await (const { text, reasoning, logprobs } of running.generation) {
    if (text === "" && reasoning === undefined && logprobs === undefined) continue;
    yield jsonLine({
      ...toHead(running),
      response: text,
      ...(reasoning === undefined ? {} : { thinking: reasoning }),
      done: false,
      ...toLogprobs(logprobs),
    } satisfies OllamaGenerateReply);
  }
  yield jsonLine({
    ...toHead(running),
    response: "",
    ...toTotals(running, await running.generation),
  } satisfies OllamaGenerateReply);
}
