// POST /v1/responses: one reply to a text or to the items of a conversation, streamed or not. Nothing is kept of it.
import { ResponseObject, ResponsesEvent, ResponsesRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { imageReading, leaseModel, startGeneration, type InferenceOptions } from "../generations.ts";
import { sendEvents } from "../../http/send-events.ts";
import { readImages } from "../../images/read-images.ts";
import { generationErrors, type Operation } from "../../openapi/operation.ts";
import { toEvents, toText, toUnixSeconds, wholeResponse, written } from "./events.ts";
import { leftOut, fieldNames, toGenerationRequest } from "./request.ts";
import { toHead } from "./response.ts";

const operation: Operation = {
  summary: "A reply as a list of items, whole or as events",
  answers: { 200: ResponseObject },
  event: ResponsesEvent,
  errors: [...generationErrors, "image_invalid", "image_not_supported"],
  example: { input: "What is the capital of France?" },
};

export async function responsesRoutes(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  const route = {
    schema: { body: ResponsesRequest },
    config: { right: "inference", isTracked: true, fieldNames, operation },
  } as const;

  app.withTypeProvider<ZodTypeProvider>().post("/v1/responses", route, async (request, reply) => {
    const { body } = request;
    const { now, newId, keepAliveMs } = options;
    request.ignore(leftOut(body));
    const said = toGenerationRequest(body, options.variant);
    const lease = await leaseModel(request, options, { model: body.model });
    const sampling = await readImages(said, lease.model, imageReading(request, options));
    const id = `resp_${newId()}`;
    const generation = startGeneration(request, lease, {
      operation: "chat",
      responseId: id,
      sampling,
      user: body.user ?? body.safety_identifier,
    });
    const head = toHead(body, { id, created_at: toUnixSeconds(now()), model: lease.id });
    const stream = toEvents(head, generation, { now, newId });
    if (body.stream !== true) return wholeResponse(stream);

    return sendEvents(request, reply, written(stream), {
      keepAliveMs,
      toErrorEvent: ({ error }) => stream.failure(error).map(toText).join(""),
    });
  });
}
