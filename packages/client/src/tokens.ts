// `client.tokenize` and `client.detokenize`: converts texts and conversations to tokens, and back.
import type { Detokenization, DetokenizeBody, Tokenization, TokenizeBody, TokenPiece } from "@ingle/protocol";

import { hasList, hasText } from "./response-body.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface TokenList<Token> extends Omit<Tokenization, "tokens"> {
  tokens: Token[];
}

/** Converts a text or a conversation to tokens. */
export interface Tokenize {
  /** Returns each token with its text, or its bytes if it is a part of a character. */
  (body: TokenizeBody & { with_pieces: true }, options?: CallOptions): Promise<TokenList<TokenPiece>>;
  /** Returns the ids. */
  (
    body: TokenizeBody & { with_pieces?: false | null | undefined },
    options?: CallOptions,
  ): Promise<TokenList<number>>;
}

/** Converts tokens to text. */
export type Detokenize = (body: DetokenizeBody, options?: CallOptions) => Promise<Detokenization>;

const isTokenList = <Token>(value: unknown): value is TokenList<Token> => hasList(value, "tokens");
const isDetokenization = (value: unknown): value is Detokenization => hasText(value, "content");

export function createTokenize(transport: Transport): Tokenize {
  return <Token>(body: TokenizeBody, { signal }: CallOptions = {}) =>
    transport.json<TokenList<Token>>({ method: "POST", path: "/v1/tokenize", body, signal }, isTokenList);
}

export function createDetokenize(transport: Transport): Detokenize {
  return (body, { signal } = {}) =>
    transport.json({ method: "POST", path: "/v1/detokenize", body, signal }, isDetokenization);
}
