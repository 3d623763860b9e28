// POST /v1/tokenize and /v1/detokenize: the tokens of a text or a conversation, and the text of tokens.
import type { Model } from "@ingle/engine";
import { Detokenization, DetokenizeRequest, Tokenization, TokenizeRequest } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { imageReading, leaseModel, type InferenceOptions } from "../protocols/inference.ts";
import { fieldNames } from "../protocols/engine-fields.ts";
import { sendPieces, toDetokenization, toTokenization } from "../http/json-pieces.ts";
import { toConversation } from "../protocols/chat/request.ts";
import type { ImageReading } from "../images/image-files.ts";
import { readImages } from "../images/read-images.ts";
import { modelErrors, type Operation } from "../openapi/operation.ts";
import { WireError } from "../wire-error.ts";

/** Maximum number of tokens for `with_pieces`: each becomes an object, which blocks the event loop. */
const piecesMax = 65_536;

const tokenizing: Operation = {
  summary: "Tokenize a text or a conversation",
  answers: { 200: Tokenization },
  errors: [...modelErrors, "image_invalid", "image_not_supported"],
  example: { content: "The capital of France is" },
};

const detokenizing: Operation = {
  summary: "Turn tokens into text",
  answers: { 200: Detokenization },
  errors: modelErrors,
  example: { tokens: [1, 2] },
};

export async function tokenizeRoutes(app: FastifyInstance, options: InferenceOptions): Promise<void> {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const tokenize = {
    schema: { body: TokenizeRequest },
    config: { right: "inference", fieldNames, operation: tokenizing },
  } as const;
  const detokenize = {
    schema: { body: DetokenizeRequest },
    config: { right: "inference", fieldNames, operation: detokenizing },
  } as const;

  typed.post("/v1/tokenize", tokenize, async (request, reply) => {
    const { body } = request;
    const { model } = await leaseModel(request, options, { model: body.model, mayMeanAny: true });
    const tokens = await tokensOf(model, body, imageReading(request, options));
    const pieces = body.with_pieces === true ? await piecesOf(model, tokens) : undefined;
    return sendPieces(reply, toTokenization(tokens, model.info.contextLength, pieces));
  });

  typed.post("/v1/detokenize", detokenize, async (request, reply) => {
    const { body } = request;
    const { model } = await leaseModel(request, options, { model: body.model, mayMeanAny: true });
    const text = await model.tokenizer.decode(body.tokens, { specials: true });
    return sendPieces(reply, toDetokenization(text));
  });
}

/** A conversation's tokens are those of a chat request's prompt. */
async function tokensOf(model: Model, body: TokenizeRequest, reading: ImageReading): Promise<Int32Array> {
  const { messages } = body;
  if (messages !== undefined) {
    const chat = await readImages(toConversation({ ...body, messages }), model, reading);
    return model.promptTokens(chat, { signal: reading.signal });
  }
  return model.tokenizer.encode(body.content ?? body.prompt ?? "", {
    addSpecial: body.add_special ?? body.add_special_tokens,
    parseSpecial: body.parse_special,
  });
}

async function piecesOf(model: Model, tokens: Int32Array): Promise<Uint8Array[]> {
  if (tokens.length > piecesMax) {
    const message = `with_pieces takes at most ${piecesMax} tokens, and this text has ${tokens.length}`;
    throw new WireError("invalid_request", message, { param: "with_pieces" });
  }
  return model.tokenizer.pieces(tokens);
}
