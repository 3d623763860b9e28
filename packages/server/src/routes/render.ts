// POST /v1/chat/completions/render and /v1/completions/render: the prompt tokens that a completion would be computed
// from. Routers use them to send a request to where its prefix is cached.
import { RenderedPrompt, RenderedPrompts } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { sendPieces, toRenderedPrompt, toRenderedPrompts } from "../http/json-pieces.ts";
import { audioErrors, contentErrors, modelErrors } from "../openapi/operation.ts";
import { chatCompletions } from "../protocols/chat/protocol.ts";
import { completions } from "../protocols/completions/protocol.ts";
import type { InferenceOptions } from "../protocols/inference.ts";
import { promptTokens } from "../protocols/prompt-tokens.ts";
import { addRoute, type Route } from "./add-route.ts";

const chat = {
  path: `POST ${chatCompletions.path}/render`,
  right: "inference",
  body: chatCompletions.body,
  ...chatCompletions.conventions,
  summary: "Get the prompt tokens of a chat completion",
  responses: { 200: RenderedPrompt },
  errors: [...modelErrors, ...contentErrors, ...audioErrors],
  example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
} satisfies Route;
const completion = {
  path: `POST ${completions.path}/render`,
  right: "inference",
  body: completions.body,
  ...completions.conventions,
  summary: "Get the prompt tokens of a completion",
  responses: { 200: RenderedPrompts },
  errors: modelErrors,
  example: { prompt: "The capital of France is" },
} satisfies Route;

export async function renderRoutes(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  addRoute(app, chat, async (request, reply) => {
    const { id, model, tokens } = await promptTokens(chatCompletions, request.body, request, options);
    const [only = new Int32Array()] = tokens;
    return sendPieces(reply, toRenderedPrompt({ request_id: id, model }, only));
  });
  addRoute(app, completion, async (request, reply) => {
    const { id, model, tokens } = await promptTokens(completions, request.body, request, options);
    return sendPieces(reply, toRenderedPrompts({ request_id: id, model }, tokens));
  });
}
