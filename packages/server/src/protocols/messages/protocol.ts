// POST /v1/messages and /v1/messages/count_tokens: a reply in Anthropic's shape, streamed or not, and what its prompt counts.
import {
  AnthropicErrorBody,
  anthropicErrorBody,
  AnthropicMessage,
  CountTokensRequest,
  type ErrorBody,
  MessagesRequest,
  MessageStreamEvent,
  TokenCount,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { imageReading, leaseModel, startGeneration, type InferenceOptions } from "../generations.ts";
import { sendEvents } from "../../http/send-events.ts";
import { namedEvent } from "../../http/event-stream.ts";
import { readImages } from "../../images/read-images.ts";
import { toEvents } from "./events.ts";
import { leftOut, fieldNames, toGenerationRequest, toPromptRequest } from "./request.ts";
import { toMessage } from "./response.ts";
import { generationErrors, modelErrors, type Operation } from "../../openapi/operation.ts";

const messages = [{ role: "user", content: "What is the capital of France?" }];

const messageOperation: Operation = {
  summary: "A reply to a conversation in the shape of Anthropic's clients, whole or as events",
  answers: { 200: AnthropicMessage },
  event: MessageStreamEvent,
  errors: [...generationErrors, "image_invalid", "image_not_supported"],
  errorBody: AnthropicErrorBody,
  example: { max_tokens: 16, messages },
};

const countOperation: Operation = {
  summary: "How many tokens the prompt of such a request has",
  answers: { 200: TokenCount },
  errors: [...modelErrors, "image_invalid", "image_not_supported"],
  errorBody: AnthropicErrorBody,
  example: { messages },
};

const errorShape = (error: ErrorBody, { id }: { id: string }) => anthropicErrorBody(error, id);

const messageRoute = {
  schema: { body: MessagesRequest },
  config: { right: "inference", isTracked: true, operation: messageOperation, errorShape, fieldNames },
} as const;
const countRoute = {
  schema: { body: CountTokensRequest },
  config: { right: "inference", operation: countOperation, errorShape, fieldNames },
} as const;

export async function messagesRoutes(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  const { variant, newId, keepAliveMs } = options;
  const routes = app.withTypeProvider<ZodTypeProvider>();

  // The name under which these clients look for it.
  app.addHook("onSend", async (request, reply) => {
    reply.header("request-id", request.id);
  });

  routes.post("/v1/messages", messageRoute, async (request, reply) => {
    const { body } = request;
    request.ignore(leftOut(body));
    const lease = await leaseModel(request, options, { model: body.model });
    const head = { id: `msg_${newId()}`, model: lease.id };
    const said = toGenerationRequest(body, variant);
    const generation = startGeneration(request, lease, {
      operation: "chat",
      responseId: head.id,
      sampling: await readImages(said, lease.model, imageReading(request, options)),
      user: body.metadata?.user_id,
    });
    if (body.stream !== true) return toMessage(head, await generation);
    return sendEvents(request, reply, toEvents(head, generation), {
      keepAliveMs,
      toErrorEvent: (error) => namedEvent("error", JSON.stringify(errorShape(error, request))),
    });
  });

  routes.post("/v1/messages/count_tokens", countRoute, async (request): Promise<TokenCount> => {
    const { body, clientSignal: signal } = request;
    request.ignore(leftOut(body));
    const { model } = await leaseModel(request, options, { model: body.model });
    const chat = await readImages(toPromptRequest(body), model, imageReading(request, options));
    const { length } = await model.promptTokens(chat, { signal });
    return { input_tokens: length };
  });
}
