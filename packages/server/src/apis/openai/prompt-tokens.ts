// The tokens of a request's prompts, without a reply: POST /v1/chat/completions/render and /v1/completions/render return them, for
// routers that send a request to where its prefix is cached; POST /v1/responses/input_tokens and /v1/chat/completions/input_tokens count them.
import {
  ChatCompletionRequest,
  InputTokenCount,
  RenderedPrompt,
  RenderedPrompts,
  ResponsesRequest,
} from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { readPrompts } from "../../generation/add-generation-route.ts";
import type { GenerationBody, GenerationRoute } from "../../generation/generation-route.ts";
import { imageReading, leaseModel, responseHead, type InferenceOptions } from "../../generation/inference.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import { sendPieces, toRenderedPrompt, toRenderedPrompts } from "../../http/json-pieces.ts";
import { audioErrors, contentErrors, modelErrors } from "../../openapi/operation.ts";
import { chatCompletions } from "./chat/chat-completions.ts";
import { completions } from "./completions/completions.ts";
import type { ResponsesRoute } from "./responses/create-response.ts";
import type { StoredResponses } from "./responses/stored-responses.ts";

const renderedChat = {
  path: `POST ${chatCompletions.path}/render`,
  right: "inference",
  body: chatCompletions.body,
  ...chatCompletions.conventions,
  summary: "Get the prompt tokens of a chat completion",
  responses: { 200: RenderedPrompt },
  errors: [...modelErrors, ...contentErrors, ...audioErrors],
  example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
} satisfies Route;
const renderedCompletion = {
  path: `POST ${completions.path}/render`,
  right: "inference",
  body: completions.body,
  ...completions.conventions,
  summary: "Get the prompt tokens of a completion",
  responses: { 200: RenderedPrompts },
  errors: modelErrors,
  example: { prompt: "The capital of France is" },
} satisfies Route;

export function addRendering(app: FastifyInstance, options: InferenceOptions): void {
  addRoute(app, renderedChat, async (request, reply) => {
    const { id, model, tokens } = await promptTokens(chatCompletions, request.body, request, options);
    const [only = new Int32Array()] = tokens;
    return sendPieces(reply, toRenderedPrompt({ request_id: id, model }, only));
  });
  addRoute(app, renderedCompletion, async (request, reply) => {
    const { id, model, tokens } = await promptTokens(completions, request.body, request, options);
    return sendPieces(reply, toRenderedPrompts({ request_id: id, model }, tokens));
  });
}

const counted = {
  right: "inference",
  responses: { 200: InputTokenCount },
  errors: [...modelErrors, ...contentErrors, ...audioErrors],
} as const satisfies Partial<Route>;
const ofChat = {
  ...counted,
  path: "POST /v1/chat/completions/input_tokens",
  ...chatCompletions.conventions,
  body: ChatCompletionRequest,
  summary: "Count the prompt tokens of a chat completion",
  example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
} satisfies Route;
const ofResponse = {
  ...counted,
  path: "POST /v1/responses/input_tokens",
  body: ResponsesRequest,
  summary: "Count the prompt tokens of a response",
  example: { input: "What is the capital of France?" },
} satisfies Route;

/** `responses`: the route that creates responses. */
export function addInputTokens(
  app: FastifyInstance,
  {
    stored,
    responses,
    ...options
  }: InferenceOptions & { stored: StoredResponses; responses: ResponsesRoute },
): void {
  addRoute(app, ofChat, async (request) =>
    toCount(await promptTokens(chatCompletions, request.body, request, options)),
  );
  addRoute(app, ofResponse, async (request) => {
    const body = { ...request.body, earlier: stored.earlier(request.body, request) };
    return toCount(await promptTokens(responses, body, request, options));
  });
}

function toCount({ tokens }: PromptTokens): InputTokenCount {
  const count = tokens.reduce((sum, each) => sum + each.length, 0);
  return { object: "response.input_tokens", input_tokens: count };
}

interface PromptTokens {
  /** Of the request, as a response to it would have. */
  id: string;
  model: string;
  /** One array for each prompt. */
  tokens: Int32Array[];
}

/** One prompt at a time: each occupies a thread of the pool that all requests share. */
async function promptTokens<Body extends GenerationBody, Sent extends GenerationBody>(
  route: GenerationRoute<Body, Sent>,
  body: Body,
  request: FastifyRequest,
  options: InferenceOptions,
): Promise<PromptTokens> {
  const { prompts, ignored = [] } = route.toEngine(body);
  request.ignore(ignored);
  const lease = await leaseModel(request, options, { model: body.model });
  const { id, model } = responseHead(route.idPrefix, lease, options);
  const tokens: Int32Array[] = [];
  for (const prompt of await readPrompts(prompts, lease, imageReading(request, options)))
    tokens.push(await lease.model.promptTokens(prompt, { signal: request.clientSignal }));
  return { id, model, tokens };
}
