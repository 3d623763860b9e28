// POST /v1/tokenize, /v1/detokenize and /v1/messages/count_tokens: the tokens of a text or a conversation, the text of tokens, and
// the number of prompt tokens of a messages request.
import type { Model } from "@ingle/engine";
import {
  AnthropicErrorBody,
  CountTokensRequest,
  Detokenization,
  DetokenizeRequest,
  TokenCount,
  Tokenization,
  TokenizeRequest,
} from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { imageReading, leaseModel, type InferenceOptions } from "../protocols/inference.ts";
import { fieldNames } from "../protocols/engine-fields.ts";
import { sendPieces, toDetokenization, toTokenization } from "../http/json-pieces.ts";
import { toConversation } from "../protocols/chat/protocol.ts";
import type { ImageReading } from "../images/image-files.ts";
import { readContent } from "../protocols/read-content.ts";
import { audioErrors, contentErrors, modelErrors } from "../openapi/operation.ts";
import { anthropicConventions, ignoredParts, toPromptRequest } from "../protocols/messages/protocol.ts";
import { WireError } from "../wire-error.ts";
import { addRoute, type Route } from "./add-route.ts";

/** Maximum number of tokens for `with_pieces`: each becomes an object, which blocks the event loop. */
const piecesMax = 65_536;

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

export async function tokenizeRoutes(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  addRoute(app, tokenize, async (request, reply) => {
    const { body } = request;
    const { model } = await leaseModel(request, options, { model: body.model, mayMeanAny: true });
    const tokens = await tokensOf(model, body, imageReading(request, options));
    const pieces = body.with_pieces === true ? await piecesOf(model, tokens) : undefined;
    return sendPieces(reply, toTokenization(tokens, model.info.contextLength, pieces));
  });
  addRoute(app, detokenize, async (request, reply) => {
    const { body } = request;
    const { model } = await leaseModel(request, options, { model: body.model, mayMeanAny: true });
    const text = await model.tokenizer.decode(body.tokens, { specials: true });
    return sendPieces(reply, toDetokenization(text));
  });
  addRoute(app, countTokens, async (request): Promise<TokenCount> => {
    const { body, clientSignal: signal } = request;
    request.ignore(ignoredParts(body));
    const { model } = await leaseModel(request, options, { model: body.model });
    const prompt = await readContent(toPromptRequest(body), model, imageReading(request, options));
    return { input_tokens: (await model.promptTokens(prompt, { signal })).length };
  });
}

/** A conversation's tokens are those of a chat request's prompt. */
async function tokensOf(model: Model, body: TokenizeRequest, reading: ImageReading): Promise<Int32Array> {
  const { messages } = body;
  if (messages !== undefined) {
    const chat = await readContent(toConversation({ ...body, messages }), model, reading);
    return model.promptTokens(chat, { signal: reading.signal });
  }
  return model.tokenizer.encode(body.content ?? body.prompt ?? "", {
    addSpecial: body.add_special ?? body.add_special_tokens,
    parseSpecial: body.parse_special,
  });
}

/** The bytes of each token. Throws `invalid_request` if there are too many. */
export async function piecesOf(model: Model, tokens: Int32Array): Promise<Uint8Array[]> {
  if (tokens.length > piecesMax) {
    const message = `with_pieces takes at most ${piecesMax} tokens, and this text has ${tokens.length}`;
    throw new WireError("invalid_request", message, { param: "with_pieces" });
  }
  return model.tokenizer.pieces(tokens);
}
