// `client.embeddings`: texts as vectors. They are sent as base64 of 32-bit floats, a quarter of the size of numbers in text,
// and returned as a `Float32Array`, or as numbers if the request says so.
import type { Embedding, EmbeddingsBody, Embeddings as EmbeddingsResponse } from "@ingle/protocol";

import { hasList, isRecord } from "./response-body.ts";
import { IngleError } from "./errors.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** The vectors of a request's texts, in their order. */
export interface EmbeddingList<Vector> extends Omit<EmbeddingsResponse, "data"> {
  data: (Omit<Embedding, "embedding"> & { embedding: Vector })[];
}

export interface Embeddings {
  /** Vectors as numbers. */
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

function isEmbeddingsResponse(value: unknown): value is EmbeddingsResponse {
  return hasList(value, "data") && value["data"].every(isEmbedding);
}

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
    const response = await transport.json(
      { method: "POST", path: "/v1/embeddings", body: request, signal },
      isEmbeddingsResponse,
    );
    const toVector = encoding_format === "float" ? toNumbers : toFloats;
    const data = response.data.map((entry) => ({ ...entry, embedding: toVector(entry.embedding) }));
    return { ...response, data };
  }
  return { create };
}

/** Other servers may ignore the requested encoding. */
function toNumbers(encoded: Embedding["embedding"]): number[] {
  return typeof encoded === "string" ? [...toFloats(encoded)] : encoded;
}

function toFloats(encoded: Embedding["embedding"]): Float32Array {
  if (typeof encoded !== "string") return Float32Array.from(encoded);
  const bytes = fromBase64(encoded);
  const floats = new Float32Array(bytes.byteLength / Float32Array.BYTES_PER_ELEMENT);
  const view = new DataView(bytes.buffer);
  // Little-endian on the wire, on any machine.
  for (let index = 0; index < floats.length; index += 1)
    floats[index] = view.getFloat32(index * Float32Array.BYTES_PER_ELEMENT, true);
  return floats;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const wrong = "the server sent a vector that is not base64 of 32-bit floats";
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    if (bytes.byteLength % Float32Array.BYTES_PER_ELEMENT === 0) return bytes;
  } catch (cause) {
    throw new IngleError(wrong, { cause });
  }
  throw new IngleError(wrong);
}
