// POST /v1/tokenize and /v1/detokenize: the tokens of a text or a conversation, and the text of tokens.
import type { Model } from "@ingle/engine";
import { Detokenization, DetokenizeRequest, Tokenization, TokenizeRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { imageReading, leaseModel, type InferenceOptions } from "../../generation/inference.ts";
import { fieldNames } from "../../generation/engine-fields.ts";
import { sendPieces, toDetokenization, toTokenization } from "../../http/json-pieces.ts";
import { toConversation } from "./chat/chat-completions.ts";
import type { ImageReading } from "../../content/image-files.ts";
import { tokenPieces } from "../../generation/token-texts.ts";
import { readParts } from "../../content/read-content.ts";
import { audioErrors, contentErrors, modelErrors } from "../../openapi/operation.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

const tokenize = {
  path: "POST /v1/tokenize",
  right: "inference",
  body: TokenizeRequest,
  fieldNames,
  summary: "Tokenize a text or a conversation",
  responses: { 200: Tokenization },
  errors: [...modelErrors, ...contentErrors, ...audioErrors],
  example: { content: "The capital of France is" },
} satisfies Route;
const detokenize = {
  path: "POST /v1/detokenize",
  right: "inference",
  body: DetokenizeRequest,
  fieldNames,
  summary: "Turn tokens into text",
  responses: { 200: Detokenization },
  errors: modelErrors,
  example: { tokens: [1, 2] },
} satisfies Route;
export function addTokenization(app: FastifyInstance, options: InferenceOptions): void {
  addRoute(app, tokenize, async (request, reply) => {
    const { body } = request;
    const { model } = await leaseModel(request, options, { model: body.model, mayMeanAny: true });
    const tokens = await readTokens(model, body, imageReading(request, options));
    const pieces = body.with_pieces === true ? await tokenPieces(model, tokens) : undefined;
    return sendPieces(reply, toTokenization(tokens, model.info.contextLength, pieces));
  });
  addRoute(app, detokenize, async (request, reply) => {
    const { body } = request;
    const { model } = await leaseModel(request, options, { model: body.model, mayMeanAny: true });
    const text = await model.tokenizer.decode(body.tokens, { specials: true });
    return sendPieces(reply, toDetokenization(text));
  });
}

/** A conversation's tokens are those of a chat request's prompt. */
async function readTokens(model: Model, body: TokenizeRequest, reading: ImageReading): Promise<Int32Array> {
  const { messages } = body;
  if (messages !== undefined) {
    const chat = await readParts(toConversation({ ...body, messages }), model, reading);
    return model.promptTokens(chat, { signal: reading.signal });
  }
  return model.tokenizer.encode(body.content ?? body.prompt ?? "", {
    addSpecial: body.add_special ?? body.add_special_tokens,
    parseSpecial: body.parse_special,
  });
}
