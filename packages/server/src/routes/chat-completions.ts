// POST /v1/chat/completions: one chat request, streamed or not.
import { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import {
  answerHead,
  imageReading,
  leaseModel,
  repeated,
  startGenerations,
  type AnsweringOptions,
} from "../answering/answering.ts";
import { sendEvents } from "../answering/send-events.ts";
import { toStreamOptions } from "../answering/stream-options.ts";
import { toChunks } from "../chat/to-chunks.ts";
import { toCompletion } from "../chat/to-completion.ts";
import { leftOut, toGenerationRequest } from "../chat/to-generation.ts";
import { readImages } from "../images/read-images.ts";
import { generationErrors, type Operation } from "../openapi/operation.ts";

const operation: Operation = {
  summary: "A reply to a conversation, whole or streamed",
  answers: { 200: ChatCompletion },
  event: ChatCompletionChunk,
  errors: [...generationErrors, "image_invalid", "image_not_supported"],
  example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
};

export async function chatRoutes(app: FastifyInstance, options: AnsweringOptions): Promise<void> {
  const route = {
    schema: { body: ChatCompletionRequest },
    config: { right: "inference", isTracked: true, operation },
  } as const;

  app.withTypeProvider<ZodTypeProvider>().post("/v1/chat/completions", route, async (request, reply) => {
    const { body } = request;
    const places = body.n ?? 1;
    request.ignore(leftOut(body));
    const lease = await leaseModel(request, options, { model: body.model, places });
    const head = answerHead("chatcmpl", lease, options);
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
