// Anthropic's API: POST /v1/messages, and POST /v1/messages/count_tokens, the number of its prompt tokens. GET /v1/models, which it shares
// with OpenAI's, is in apis/openai/models.ts.
import type { FastifyInstance } from "fastify";
import { addGenerationRoute } from "../../generation/add-generation-route.ts";
import { type InferenceOptions, imageReading, leaseModel } from "../../generation/inference.ts";
import { messages, anthropicConventions, ignoredParts, toPromptRequest } from "./create-message.ts";
import { AnthropicErrorBody, CountTokensRequest, TokenCount } from "@ingle/protocol";
import { readParts } from "../../content/read-content.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import { audioErrors, contentErrors, modelErrors } from "../../openapi/operation.ts";

const countTokens = {
  path: "POST /v1/messages/count_tokens",
  right: "inference",
  body: CountTokensRequest,
  ...anthropicConventions,
  summary: "Count the prompt tokens of a messages request",
  responses: { 200: TokenCount },
  errors: [...modelErrors, ...contentErrors, ...audioErrors],
  errorBody: AnthropicErrorBody,
  example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
} satisfies Route;

function addTokenCount(app: FastifyInstance, options: InferenceOptions): void {
  addRoute(app, countTokens, async (request): Promise<TokenCount> => {
    const { body, clientSignal: signal } = request;
    request.ignore(ignoredParts(body));
    const { model } = await leaseModel(request, options, { model: body.model });
    const prompt = await readParts(toPromptRequest(body), model, imageReading(request, options));
    return { input_tokens: (await model.promptTokens(prompt, { signal })).length };
  });
}

export async function anthropicApi(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  addGenerationRoute(app, messages, options);
  addTokenCount(app, options);
}
