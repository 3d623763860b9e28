// POST /v1/chat/completions/render and /v1/completions/render: the prompt tokens that a completion would be computed
// from. Routers use them to send a request to where its prefix is cached.
import { RenderedPrompt, RenderedPrompts } from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { sendPieces, toRenderedPrompt, toRenderedPrompts } from "../http/json-pieces.ts";
import { audioErrors, contentErrors, modelErrors } from "../openapi/operation.ts";
import { chatCompletions } from "../protocols/chat/protocol.ts";
import { completions } from "../protocols/completions/protocol.ts";
import { readPrompts } from "../protocols/generation-route.ts";
import { imageReading, leaseModel, responseHead, type InferenceOptions } from "../protocols/inference.ts";
import type { GenerationBody, GenerationProtocol } from "../protocols/protocol.ts";
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
    const { head, tokens } = await render(chatCompletions, request.body, request, options);
    const [only = new Int32Array()] = tokens;
    return sendPieces(reply, toRenderedPrompt(head, only));
  });
  addRoute(app, completion, async (request, reply) => {
    const { head, tokens } = await render(completions, request.body, request, options);
    return sendPieces(reply, toRenderedPrompts(head, tokens));
  });
}

/** The tokens of the request's prompts. One prompt at a time: each occupies a thread of the pool that all requests share. */
async function render<Body extends GenerationBody>(
  protocol: GenerationProtocol<Body>,
  body: Body,
  request: FastifyRequest,
  options: InferenceOptions,
): Promise<{ head: Omit<RenderedPrompt, "token_ids">; tokens: Int32Array[] }> {
  const { prompts, ignored = [] } = protocol.toEngine(body);
  request.ignore(ignored);
  const lease = await leaseModel(request, options, { model: body.model });
  const { id, model } = responseHead(protocol.idPrefix, lease, options);
  const tokens: Int32Array[] = [];
  for (const prompt of await readPrompts(prompts, lease.model, imageReading(request, options)))
    tokens.push(await lease.model.promptTokens(prompt, { signal: request.clientSignal }));
  return { head: { request_id: id, model }, tokens };
}
