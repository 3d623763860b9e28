// POST /api/generate: replies to one prompt in Ollama's form, complete or as one JSON object per line.
import { OllamaError, OllamaGenerateReply, OllamaGenerateRequest } from "@ingle/protocol";
import { jsonLine } from "../../http/event-stream.ts";
import { generationErrors } from "../../openapi/operation.ts";
import type { GenerationProtocol, RunningRequest } from "../protocol.ts";
import { ollamaConventions, ollamaErrorLine, ollamaStreaming } from "./conventions.ts";
import { ignoredOptions, toPrompt } from "./engine-request.ts";
import { leaseOllamaModel } from "./lease.ts";
import { loadedOrUnloaded } from "./load.ts";
import { headOf, logprobsOf, totalsOf } from "./response.ts";

export const ollamaGenerate: GenerationProtocol<OllamaGenerateRequest> = {
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
  instead: async (body, request, options) => {
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
    ...headOf(running),
    response: result.text,
    ...(result.reasoning === "" ? {} : { thinking: result.reasoning }),
    ...logprobsOf(result.logprobs),
    ...totalsOf(running, result),
  };
}

/** Throws what the generation throws. */
async function* toLines(
  running: RunningRequest<OllamaGenerateRequest>,
): AsyncGenerator<string, void, undefined> {
  for await (const { text, reasoning, logprobs } of running.generation) {
    if (text === "" && reasoning === undefined && logprobs === undefined) continue;
    yield jsonLine({
      ...headOf(running),
      response: text,
      ...(reasoning === undefined ? {} : { thinking: reasoning }),
      done: false,
      ...logprobsOf(logprobs),
    } satisfies OllamaGenerateReply);
  }
  yield jsonLine({
    ...headOf(running),
    response: "",
    ...totalsOf(running, await running.generation),
  } satisfies OllamaGenerateReply);
}
