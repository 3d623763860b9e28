// llama-server's POST /tokenize, /detokenize and /apply-template.
import {
  Detokenization,
  DetokenizeRequest,
  LlamaServerError,
  LlamaServerTemplate,
  LlamaServerTemplateRequest,
  LlamaServerTokenizeRequest,
  Tokenization,
} from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { readParts } from "../../content/read-content.ts";
import { imageReading, leaseModel, type InferenceOptions } from "../../generation/inference.ts";
import { tokenPieces } from "../../generation/token-texts.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import { sendPieces, toDetokenization, toTokenization } from "../../http/json-pieces.ts";
import { audioErrors, contentErrors, modelErrors } from "../../openapi/operation.ts";
import { toConversation } from "../openai/chat/chat-completions.ts";
import { llamaServerConventions } from "./conventions.ts";
import { encodePrompt } from "./engine-request.ts";

const common = {
  ...llamaServerConventions,
  errorBody: LlamaServerError,
  right: "inference",
} as const;

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

export function addTokens(app: FastifyInstance, options: InferenceOptions): void {
  const leaseAny = async (request: FastifyRequest, id: string | undefined) =>
    leaseModel(request, options, { model: id, mayMeanAny: true });

  addRoute(app, tokenize, async (request, reply) => {
    const { content = "", add_special: addSpecial = false, with_pieces, ...body } = request.body;
    const { model } = await leaseAny(request, body.model);
    const { tokenizer, info } = model;
    const how = { addSpecial, parseSpecial: body.parse_special ?? true };
    const read = await encodePrompt(content, tokenizer, how);
    const tokens = typeof read === "string" ? await tokenizer.encode(read, how) : read;
    const pieces = with_pieces === true ? await tokenPieces(model, tokens) : undefined;
    return sendPieces(reply, toTokenization(tokens, info.contextLength, pieces));
  });
  addRoute(app, detokenize, async (request, reply) => {
    const { model } = await leaseAny(request, request.body.model);
    return sendPieces(
      reply,
      toDetokenization(await model.tokenizer.decode(request.body.tokens, { specials: true })),
    );
  });
  addRoute(app, applyTemplate, async (request): Promise<LlamaServerTemplate> => {
    const { body } = request;
    const { model } = await leaseAny(request, body.model);
    const chat = await readParts(toConversation(body), model, imageReading(request, options));
    return { prompt: await model.promptText(chat, { addGenerationPrompt: body.add_generation_prompt }) };
  });
}
