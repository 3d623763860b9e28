// POST /v1/chat/completions/render and /v1/completions/render: the tokens of the prompts that a completion would be computed
// from. Routers that send a request to where its beginning is cached ask for them.
import {
  ChatCompletionRequest,
  CompletionRequest,
  promptsOf,
  RenderedPrompt,
  RenderedPrompts,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { responseFields, imageReading, leaseModel, type InferenceOptions } from "../protocols/generations.ts";
import { fieldNames } from "../protocols/engine-fields.ts";
import { sendPieces } from "../http/json-pieces.ts";
import { leftOut, toGenerationRequest } from "../protocols/chat/request.ts";
import { toCommon } from "../protocols/completions/request.ts";
import { readImages } from "../images/read-images.ts";
import { modelErrors, type Operation } from "../openapi/operation.ts";
import { toRenderedPrompt, toRenderedPrompts } from "../http/token-json.ts";

const chatOperation: Operation = {
  summary: "The prompt's tokens of a chat completion",
  answers: { 200: RenderedPrompt },
  errors: [...modelErrors, "image_invalid", "image_not_supported"],
  example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
};

const completionOperation: Operation = {
  summary: "The prompts' tokens of a completion",
  answers: { 200: RenderedPrompts },
  errors: modelErrors,
  example: { prompt: "The capital of France is" },
};

export async function renderRoutes(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const chat = {
    schema: { body: ChatCompletionRequest },
    config: { right: "inference", fieldNames, operation: chatOperation },
  } as const;
  const completion = {
    schema: { body: CompletionRequest },
    config: { right: "inference", fieldNames, operation: completionOperation },
  } as const;

  typed.post("/v1/chat/completions/render", chat, async (request, reply) => {
    const { body, clientSignal: signal } = request;
    request.ignore(leftOut(body));
    const lease = await leaseModel(request, options, { model: body.model });
    const asked = toGenerationRequest(body, options.variant);
    const read = await readImages(asked, lease.model, imageReading(request, options));
    const tokens = await lease.model.promptTokens(read, { signal });
    const { id, model } = responseFields("chatcmpl", lease, options);
    return sendPieces(reply, toRenderedPrompt({ request_id: id, model }, tokens));
  });

  typed.post("/v1/completions/render", completion, async (request, reply) => {
    const { body, clientSignal: signal } = request;
    const lease = await leaseModel(request, options, { model: body.model });
    const common = toCommon(body, options.variant);
    const all: Int32Array[] = [];
    // One after the other: each holds one thread of the pool that all requests share.
    for (const prompt of promptsOf(body.prompt))
      all.push(await lease.model.promptTokens({ ...common, prompt }, { signal }));
    const { id, model } = responseFields("cmpl", lease, options);
    return sendPieces(reply, toRenderedPrompts({ request_id: id, model }, all));
  });
}
