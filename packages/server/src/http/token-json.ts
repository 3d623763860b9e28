// The answers that hold tokens as JSON, written piece by piece: millions of tokens at once would hold up everybody else while
// their numbers are being written out.
import type { Detokenization, RenderedPrompt, Tokenization, TokenPiece } from "@ingle/protocol";

/** Tokens of a piece of the answer. */
const tokensAtOnce = 8_192;
/** UTF-16 units of a piece of the answer. */
const charactersAtOnce = 256 * 1024;

type Pieces = Generator<string, void, undefined>;

/** `Tokenization` of the protocol. With the tokens' bytes, each of the tokens is an object. */
export function* toTokenization(
  tokens: Int32Array,
  contextLength: number,
  bytesOf?: readonly Uint8Array[],
): Pieces {
  yield '{"tokens":[';
  yield* writtenTokens(tokens, (some, from) =>
    bytesOf === undefined
      ? some.join(",")
      : Array.from(some, (id, index) => JSON.stringify(toPiece(id, bytesOf[from + index]))).join(","),
  );
  const rest: Omit<Tokenization, "tokens"> = { count: tokens.length, max_model_len: contextLength };
  yield `],${JSON.stringify(rest).slice(1)}`;
}

/** `RenderedPrompt` of the protocol. */
export function* toRenderedPrompt(head: Omit<RenderedPrompt, "token_ids">, tokens: Int32Array): Pieces {
  yield `${JSON.stringify(head).slice(0, -1)},"token_ids":[`;
  yield* writtenTokens(tokens, (some) => some.join(","));
  yield "]}";
}

/** `RenderedPrompts` of the protocol. */
export function* toRenderedPrompts(
  head: Omit<RenderedPrompt, "token_ids">,
  all: readonly Int32Array[],
): Pieces {
  for (const [index, tokens] of all.entries()) {
    yield index === 0 ? "[" : ",";
    yield* toRenderedPrompt(head, tokens);
  }
  yield "]";
}

function* writtenTokens(tokens: Int32Array, write: (some: Int32Array, from: number) => string): Pieces {
  for (let from = 0; from < tokens.length; from += tokensAtOnce) {
    yield (from === 0 ? "" : ",") + write(tokens.subarray(from, from + tokensAtOnce), from);
  }
}

/** `Detokenization` of the protocol. */
export function* toDetokenization(text: string): Pieces {
  const names: (keyof Detokenization)[] = ["content", "prompt"];
  for (const [index, name] of names.entries()) {
    yield `${index === 0 ? "{" : ","}"${name}":"`;
    for (let from = 0; from < text.length; from += charactersAtOnce) {
      // Half a character becomes an escape, which is read as the same half again.
      yield JSON.stringify(text.slice(from, from + charactersAtOnce)).slice(1, -1);
    }
    yield '"';
  }
  yield "}";
}

/** A part of a character is no text: its bytes are told instead. */
function toPiece(id: number, bytes: Uint8Array = new Uint8Array()): TokenPiece {
  try {
    return { id, piece: decoder.decode(bytes) };
  } catch {
    return { id, piece: [...bytes] };
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
