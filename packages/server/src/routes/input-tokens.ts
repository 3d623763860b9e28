// POST /v1/responses/input_tokens and /v1/chat/completions/input_tokens: how many tokens the prompt of a request has.
import { ChatCompletionRequest, InputTokenCount, ResponsesRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { audioErrors, contentErrors, modelErrors } from "../openapi/operation.ts";
import { chatCompletions } from "../protocols/chat/protocol.ts";
import type { InferenceOptions } from "../protocols/inference.ts";
import { promptTokens, type PromptTokens } from "../protocols/prompt-tokens.ts";
import { responses } from "../protocols/responses/protocol.ts";
import type { StoredResponses } from "../protocols/responses/stored-responses.ts";
import { addRoute, type Route } from "./add-route.ts";

const counted = {
  right: "inference",
  responses: { 200: InputTokenCount },
  errors: [...modelErrors, ...contentErrors, ...audioErrors],
} as const satisfies Partial<Route>;
const ofChat = {
  ...counted,
  ...chatCompletions.conventions,
  body: ChatCompletionRequest,
  summary: "Count the prompt tokens of a chat completion",
  example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
} satisfies Omit<Route, "path">;
const ofResponse = {
  ...counted,
  body: ResponsesRequest,
  summary: "Count the prompt tokens of a response",
  example: { input: "What is the capital of France?" },
} satisfies Omit<Route, "path">;

export interface InputTokensOptions extends InferenceOptions {
  stored: StoredResponses;
  /** What comes before `/chat/completions` and `/responses`. */
  prefixes: readonly ("/v1" | "")[];
}

export async function inputTokenRoutes(
  app: FastifyInstance,
  { stored, prefixes, ...options }: InputTokensOptions,
): Promise<void> {
  const protocol = responses(stored);
  for (const prefix of prefixes) {
    addRoute(app, { ...ofChat, path: `POST ${prefix}/chat/completions/input_tokens` }, async (request) =>
      toCount(await promptTokens(chatCompletions, request.body, request, options)),
    );
    addRoute(app, { ...ofResponse, path: `POST ${prefix}/responses/input_tokens` }, async (request) => {
      const body = { ...request.body, earlier: stored.earlier(request.body, request) };
      return toCount(await promptTokens(protocol, body, request, options));
    });
  }
}

function toCount({ tokens }: PromptTokens): InputTokenCount {
  const count = tokens.reduce((sum, each) => sum + each.length, 0);
  return { object: "response.input_tokens", input_tokens: count };
}
