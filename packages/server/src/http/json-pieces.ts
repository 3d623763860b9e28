// Writes long JSON responses in pieces: writing millions of numbers in one go would block the event loop, so other requests are
// served between two pieces.
import { endianness } from "node:os";
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { EmbeddingResult } from "@ingle/engine";
import type {
  Detokenization,
  Embedding,
  EmbeddingsRequest,
  EmbeddingsUsage,
  RenderedPrompt,
  Tokenization,
  TokenPiece,
} from "@ingle/protocol";
import type { FastifyReply } from "fastify";

/** Tokens in one piece. */
const tokensAtOnce = 8_192;
/** UTF-16 units in one piece. */
const charactersAtOnce = 256 * 1024;

type Pieces = Generator<string, void, undefined>;

/** Sends the pieces of one JSON text, each once the previous one has been sent. */
export function sendPieces(reply: FastifyReply, pieces: Iterable<string>): FastifyReply {
  return reply.header("content-type", "application/json; charset=utf-8").send(Readable.from(paced(pieces)));
}

/** A connection that takes everything at once would never yield to the event loop. */
async function* paced(pieces: Iterable<string>): AsyncGenerator<string, void, undefined> {
  for (const piece of pieces) {
    yield piece;
    await setImmediate();
  }
}

interface EmbeddingsResponse {
  /** Id of the model. */
  model: string;
  result: Pick<EmbeddingResult, "embeddings" | "usage">;
  /** Default: numbers. */
  format: EmbeddingsRequest["encoding_format"];
}

/** `Embeddings` of the protocol. */
export function* toEmbeddings({ model, result, format }: EmbeddingsResponse): Pieces {
  yield '{"object":"list","data":[';
  for (const [index, vector] of result.embeddings.entries()) {
    const embedding: Embedding = {
      object: "embedding",
      index,
      embedding: format === "base64" ? toBase64(vector) : Array.from(vector),
    };
    yield (index === 0 ? "" : ",") + JSON.stringify(embedding);
  }
  const { promptTokens } = result.usage;
  const usage: EmbeddingsUsage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  yield `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`;
}

/** `LlamaServerEmbeddings` of the protocol. */
export function* toEmbeddingList(embeddings: readonly Float32Array[]): Pieces {
  yield "[";
  for (const [index, vector] of embeddings.entries())
    yield (index === 0 ? "" : ",") + JSON.stringify({ index, embedding: [Array.from(vector)] });
  yield "]";
}

/** 32-bit floats, the lowest byte first on every machine. */
function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  return (endianness() === "LE" ? bytes : Buffer.from(bytes).swap32()).toString("base64");
}

/** `Tokenization` of the protocol. With `bytesOf`, each token is an object with its text. */
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
      // Half of a surrogate pair is written as an escape, which is read as the same half again.
      yield JSON.stringify(text.slice(from, from + charactersAtOnce)).slice(1, -1);
    }
    yield '"';
  }
  yield "}";
}

/** A token that is a part of a character has no text; it is written as its bytes. */
function toPiece(id: number, bytes: Uint8Array = new Uint8Array()): TokenPiece {
  try {
    return { id, piece: decoder.decode(bytes) };
  } catch {
    return { id, piece: [...bytes] };
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
