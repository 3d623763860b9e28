// llama-server's routes that do not generate, except embeddings: tokens, templates, and information about models.
import {
  Detokenization,
  DetokenizeRequest,
  LlamaServerError,
  LlamaServerModels,
  LlamaServerProps,
  LlamaServerTemplate,
  LlamaServerTemplateRequest,
  LlamaServerTokenizeRequest,
  Tokenization,
} from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { sendPieces, toDetokenization, toTokenization } from "../http/json-pieces.ts";
import { readContent } from "../protocols/read-content.ts";
import { audioErrors, contentErrors, modelErrors } from "../openapi/operation.ts";
import { toConversation } from "../protocols/chat/protocol.ts";
import { imageReading, leaseModel, type InferenceOptions } from "../protocols/inference.ts";
import { llamaServerConventions } from "../protocols/llama-server/conventions.ts";
import { tokensOf } from "../protocols/llama-server/engine-request.ts";
import { toProps } from "../protocols/llama-server/props.ts";
import { addRoute, type Route } from "./add-route.ts";
import { piecesOf } from "./tokenize.ts";

const common = {
  ...llamaServerConventions,
  errorBody: LlamaServerError,
  right: "inference",
} as const;

export const ModelQuery = z.looseObject({ model: z.string("model must be an id").optional() });
const models = {
  ...common,
  path: "GET /models",
  summary: "List the models in llama-server's form",
  responses: { 200: LlamaServerModels },
} satisfies Route;
const props = {
  ...common,
  path: "GET /props",
  query: ModelQuery,
  summary: "Describe a model and the defaults of its requests in llama-server's form",
  responses: { 200: LlamaServerProps },
  errors: modelErrors,
} satisfies Route;
const tokenize = {
  ...common,
  path: "POST /tokenize",
  body: LlamaServerTokenizeRequest,
  summary: "Tokenize a text in llama-server's form",
  responses: { 200: Tokenization },
  errors: modelErrors,
  example: { content: "The capital of France is" },
} satisfies Route;
const detokenize = {
  ...common,
  path: "POST /detokenize",
  body: DetokenizeRequest,
  summary: "Turn tokens into text in llama-server's form",
  responses: { 200: Detokenization },
  errors: modelErrors,
  example: { tokens: [1, 2] },
} satisfies Route;
const applyTemplate = {
  ...common,
  path: "POST /apply-template",
  body: LlamaServerTemplateRequest,
  summary: "Format a conversation with the chat template",
  responses: { 200: LlamaServerTemplate },
  errors: [...modelErrors, ...contentErrors, ...audioErrors],
  example: { messages: [{ role: "user", content: "What is the capital of France?" }] },
} satisfies Route;

export async function llamaServerRoutes(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  const { registry } = options;
  const modelOf = async (request: FastifyRequest, id: string | undefined) =>
    leaseModel(request, options, { model: id, mayMeanAny: true });

  addRoute(app, models, async (): Promise<LlamaServerModels> => {
    await registry.refresh();
    const data = registry.list().map((entry) => {
      const { context_length: n_ctx, n_params, size_bytes: size, quantization: ftype } = entry;
      return { ...entry, meta: { n_ctx, n_params, size, ftype } };
    });
    return { object: "list", data };
  });
  addRoute(app, props, async (request): Promise<LlamaServerProps> => {
    return await toProps(await modelOf(request, request.query.model), options);
  });
  addRoute(app, tokenize, async (request, reply) => {
    const { content = "", add_special: addSpecial = false, with_pieces, ...body } = request.body;
    const { model } = await modelOf(request, body.model);
    const { tokenizer, info } = model;
    const how = { addSpecial, parseSpecial: body.parse_special ?? true };
    const read = await tokensOf(content, tokenizer, how);
    const tokens = typeof read === "string" ? await tokenizer.encode(read, how) : read;
    const pieces = with_pieces === true ? await piecesOf(model, tokens) : undefined;
    return sendPieces(reply, toTokenization(tokens, info.contextLength, pieces));
  });
  addRoute(app, detokenize, async (request, reply) => {
    const { model } = await modelOf(request, request.body.model);
    return sendPieces(
      reply,
      toDetokenization(await model.tokenizer.decode(request.body.tokens, { specials: true })),
    );
  });
  addRoute(app, applyTemplate, async (request): Promise<LlamaServerTemplate> => {
    const { body } = request;
    const { model } = await modelOf(request, body.model);
    const chat = await readContent(toConversation(body), model, imageReading(request, options));
    return { prompt: await model.promptText(chat, { addGenerationPrompt: body.add_generation_prompt }) };
  });
}
