// `client.tokenize` and `client.detokenize`: what a text or a conversation is to the model, and back.
import type { Detokenization, DetokenizeBody, Tokenization, TokenizeBody, TokenPiece } from "@ingle/protocol";

import { isRecord } from "./answer.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** What a text or a conversation is to the model. */
export interface TokenList<Token> extends Omit<Tokenization, "tokens"> {
  tokens: Token[];
}

/** Texts or conversations to tokens. */
export interface Tokenize {
  /** Each token with its text, or its bytes where it is a part of a character. */
  (body: TokenizeBody & { with_pieces: true }, options?: CallOptions): Promise<TokenList<TokenPiece>>;
  /** The ids. */
  (
    body: TokenizeBody & { with_pieces?: false | null | undefined },
    options?: CallOptions,
  ): Promise<TokenList<number>>;
}

/** Tokens to their text. */
export type Detokenize = (body: DetokenizeBody, options?: CallOptions) => Promise<Detokenization>;

function isTokenList<Token>(value: unknown): value is TokenList<Token> {
  return isRecord(value) && Array.isArray(value["tokens"]);
}

function isDetokenization(value: unknown): value is Detokenization {
  return isRecord(value) && typeof value["content"] === "string";
}

/** Makes `client.tokenize`. */
export function createTokenize(transport: Transport): Tokenize {
  return <Token>(body: TokenizeBody, { signal }: CallOptions = {}) =>
    transport.json<TokenList<Token>>({ method: "POST", path: "/v1/tokenize", body, signal }, isTokenList);
}

/** Makes `client.detokenize`. */
export function createDetokenize(transport: Transport): Detokenize {
  return (body, { signal } = {}) =>
    transport.json({ method: "POST", path: "/v1/detokenize", body, signal }, isDetokenization);
}
