// `client.embeddings`: texts as vectors. They travel as base64 of 32-bit floats, which is a quarter of what the same numbers
// take as text, and come out as a `Float32Array`; as numbers where the request says so.
import type { Embedding, EmbeddingsBody, Embeddings as EmbeddingsAnswer } from "@ingle/protocol";

import { isRecord } from "./answer.ts";
import { IngleError } from "./errors.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** The vectors of a request's texts, in their order. */
export interface EmbeddingList<Vector> extends Omit<EmbeddingsAnswer, "data"> {
  data: (Omit<Embedding, "embedding"> & { embedding: Vector })[];
}

/** The embeddings of a server. */
export interface Embeddings {
  /** Vectors as numbers, as they stand in the answer. */
  create(
    body: EmbeddingsBody & { encoding_format: "float" },
    options?: CallOptions,
  ): Promise<EmbeddingList<number[]>>;
  /** Vectors as 32-bit floats. */
  create(
    body: EmbeddingsBody & { encoding_format?: "base64" | null | undefined },
    options?: CallOptions,
  ): Promise<EmbeddingList<Float32Array>>;
}

function isEmbedding(value: unknown): boolean {
  if (!isRecord(value) || typeof value["index"] !== "number") return false;
  return Array.isArray(value["embedding"]) || typeof value["embedding"] === "string";
}

function isEmbeddingsAnswer(value: unknown): value is EmbeddingsAnswer {
  return isRecord(value) && Array.isArray(value["data"]) && value["data"].every(isEmbedding);
}

/** Makes `client.embeddings`. */
export function createEmbeddings(transport: Transport): Embeddings {
  function create(
    body: EmbeddingsBody & { encoding_format: "float" },
    options?: CallOptions,
  ): Promise<EmbeddingList<number[]>>;
  function create(
    body: EmbeddingsBody & { encoding_format?: "base64" | null | undefined },
    options?: CallOptions,
  ): Promise<EmbeddingList<Float32Array>>;
  async function create(
    body: EmbeddingsBody,
    { signal }: CallOptions = {},
  ): Promise<EmbeddingList<number[] | Float32Array>> {
    const encoding_format = body.encoding_format ?? "base64";
    const request = { ...body, encoding_format };
    const answer = await transport.json(
      { method: "POST", path: "/v1/embeddings", body: request, signal },
      isEmbeddingsAnswer,
    );
    const toVector = encoding_format === "float" ? toNumbers : toFloats;
    const data = answer.data.map((entry) => ({ ...entry, embedding: toVector(entry.embedding) }));
    return { ...answer, data };
  }
  return { create };
}

/** A server may answer in the other form than it was asked for. */
function toNumbers(written: Embedding["embedding"]): number[] {
  return typeof written === "string" ? [...toFloats(written)] : written;
}

function toFloats(written: Embedding["embedding"]): Float32Array {
  if (typeof written !== "string") return Float32Array.from(written);
  const bytes = fromBase64(written);
  const floats = new Float32Array(bytes.byteLength / Float32Array.BYTES_PER_ELEMENT);
  const view = new DataView(bytes.buffer);
  // Little-endian on the wire, whatever this machine is.
  for (let index = 0; index < floats.length; index += 1)
    floats[index] = view.getFloat32(index * Float32Array.BYTES_PER_ELEMENT, true);
  return floats;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const wrong = "the server sent a vector that is no base64 of 32-bit floats";
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    if (bytes.byteLength % Float32Array.BYTES_PER_ELEMENT === 0) return bytes;
  } catch (cause) {
    throw new IngleError(wrong, { cause });
  }
  throw new IngleError(wrong);
}
