// POST /v1/messages/count_tokens: the number of prompt tokens of a messages request.
import { AnthropicErrorBody, CountTokensRequest, TokenCount } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { readImages } from "../images/read-images.ts";
import { modelErrors, type Operation } from "../openapi/operation.ts";
import { imageReading, leaseModel, type InferenceOptions } from "../protocols/inference.ts";
import { anthropicConventions } from "../protocols/messages/protocol.ts";
import { ignoredParts, toPromptRequest } from "../protocols/messages/request.ts";

const operation: Operation = {
  summary: "Count the prompt tokens of a messages request",
  answers: { 200: TokenCount },
  errors: [...modelErrors, "image_invalid", "image_not_supported"],
  errorBody: AnthropicErrorBody,
  example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
};

export async function countTokensRoutes(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  const route = {
    schema: { body: CountTokensRequest },
    config: { right: "inference", operation, ...anthropicConventions },
  } as const;

  app.withTypeProvider<ZodTypeProvider>().post("/v1/messages/count_tokens", route, async (request) => {
    const { body, clientSignal: signal } = request;
    request.ignore(ignoredParts(body));
    const { model } = await leaseModel(request, options, { model: body.model });
    const prompt = await readImages(toPromptRequest(body), model, imageReading(request, options));
    const { length } = await model.promptTokens(prompt, { signal });
    return { input_tokens: length } satisfies TokenCount;
  });
}
