// POST /v1/chat/completions: one chat request, streamed or not.
import { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import {
  responseFields,
  imageReading,
  leaseModel,
  repeated,
  startGenerations,
  type InferenceOptions,
} from "../generations.ts";
import { fieldNames } from "../engine-fields.ts";
import { sendEvents } from "../../http/send-events.ts";
import { toStreamOptions } from "../stream-options.ts";
import { toChunks } from "./to-chunks.ts";
import { toCompletion } from "./response.ts";
import { leftOut, toGenerationRequest } from "./request.ts";
import { readImages } from "../../images/read-images.ts";
import { generationErrors, type Operation } from "../../openapi/operation.ts";

const operation: Operation = {
  summary: "A reply to a conversation, whole or streamed",
  answers: { 200: ChatCompletion },
  event: ChatCompletionChunk,
  errors: [...generationErrors, "image_invalid", "image_not_supported"],
  example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
};

export async function chatRoutes(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  const route = {
    schema: { body: ChatCompletionRequest },
    config: { right: "inference", fieldNames, isTracked: true, operation },
  } as const;

  app.withTypeProvider<ZodTypeProvider>().post("/v1/chat/completions", route, async (request, reply) => {
    const { body } = request;
    const places = body.n ?? 1;
    request.ignore(leftOut(body));
    const lease = await leaseModel(request, options, { model: body.model, places });
    const head = responseFields("chatcmpl", lease, options);
    const said = toGenerationRequest(body, options.variant);
    const sampling = await readImages(said, lease.model, imageReading(request, options));
    const generations = startGenerations(request, lease, repeated(sampling, places), {
      operation: "chat",
      responseId: head.id,
      sampling,
      user: body.user,
    });
    if (body.stream !== true) return toCompletion(head, await Promise.all(generations));

    const chunks = toChunks(head, generations, toStreamOptions(body));
    return sendEvents(request, reply, chunks, options);
  });
}
