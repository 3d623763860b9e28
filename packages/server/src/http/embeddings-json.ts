// The answer of /v1/embeddings as JSON, written piece by piece: thousands of vectors at once would hold up everybody else
// while their numbers are being written out. Used by routes/embeddings.ts.
import { endianness } from "node:os";
import type { EmbeddingResult } from "@ingle/engine";
import type { Embedding, EmbeddingsRequest, EmbeddingsUsage } from "@ingle/protocol";

export interface EmbeddingsAnswer {
  /** Id of the model in the house. */
  model: string;
  result: Pick<EmbeddingResult, "embeddings" | "usage">;
  /** Default: numbers. */
  format: EmbeddingsRequest["encoding_format"];
}

/** The texts of a request, one or several. */
export function toInputs(input: EmbeddingsRequest["input"]): readonly (string | Int32Array)[] {
  return typeof input === "string" || input instanceof Int32Array ? [input] : input;
}

/** Pieces of one JSON object, `Embeddings` of the protocol. */
export function* toAnswer({ model, result, format }: EmbeddingsAnswer): Generator<string, void, undefined> {
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

/** 32-bit floats, the lowest byte first on every machine. */
function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  return (endianness() === "LE" ? bytes : Buffer.from(bytes).swap32()).toString("base64");
}
