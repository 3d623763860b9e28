// The vectors of a document's passages: computed once with an embedding model, and kept with the chat.
import { ApiError } from "@ingle/client";

import { vectorsId } from "../conversations/chat-storage.ts";
import { chatStorage } from "../conversations/chat-store.ts";
import { client } from "../connection/connection.ts";
import { splitVersion } from "../retrieval/split-text.ts";
import { meanVector, packVectors, toVector, unpackVectors, type Vector } from "../retrieval/vectors.ts";

/** About 4,000 tokens: a second or two on a small processor, after which progress is shown and the computation can be stopped. */
const batchPassages = 16;

interface VectorsOptions {
  document: { id: string; passages: readonly string[] };
  conversationId: string;
  /** The embedding model. */
  model: string;
  /** Gets the number of vectors so far. */
  onProgress: (done: number) => void;
  signal: AbortSignal;
}

/** The vectors of all passages. What was computed is kept even if the rest fails or is stopped, so that the next question continues there. */
export async function documentVectors(options: VectorsOptions): Promise<readonly Vector[]> {
  const { document, conversationId, model, onProgress, signal } = options;
  const { id, passages } = document;
  const kept = await keptVectors(id);
  const isSame = kept?.model === model && kept.splitVersion === splitVersion;
  const vectors = isSame ? kept.vectors.slice(0, passages.length) : [];
  const before = vectors.length;
  try {
    while (vectors.length < passages.length) {
      onProgress(vectors.length);
      const batch = passages.slice(vectors.length, vectors.length + batchPassages);
      vectors.push(...(await embedTexts(batch, { model, signal })));
    }
  } finally {
    if (vectors.length > before) await keep(id, { conversationId, model, vectors });
  }
  return vectors;
}

/** The vectors of texts, of which none is empty. A text with more tokens than the model reads gets the mean of its halves. */
export async function embedTexts(
  texts: readonly string[],
  options: { model: string; signal: AbortSignal },
): Promise<Vector[]> {
  return (await embed(texts, options)).map(toVector);
}

async function embed(
  texts: readonly string[],
  options: { model: string; signal: AbortSignal },
): Promise<ArrayLike<number>[]> {
  const { model, signal } = options;
  try {
    const { data } = await client.embeddings.create({ model, input: [...texts] }, { signal });
    return data.map(({ embedding }) => embedding);
  } catch (error) {
    const isTooLong = ApiError.is(error) && error.code === "context_length_exceeded";
    const [text = ""] = texts;
    const all = texts.length > 1 ? texts : splitInHalf(text);
    if (!isTooLong || all.length < 2) throw error;
    const middle = Math.floor(all.length / 2);
    const first = await embed(all.slice(0, middle), options);
    const second = await embed(all.slice(middle), options);
    return texts.length > 1 ? [...first, ...second] : [meanVector([...first, ...second])];
  }
}

/** Two parts of a text, neither of which is empty or cuts a character; the text itself if it has none. */
function splitInHalf(text: string): string[] {
  const characters = Array.from(text);
  const middle = Math.floor(characters.length / 2);
  return [characters.slice(0, middle), characters.slice(middle)]
    .map((half) => half.join(""))
    .filter((half) => half.trim() !== "");
}

async function keptVectors(documentId: string) {
  const data = await (await chatStorage()).file(vectorsId(documentId));
  return data === undefined ? undefined : unpackVectors(data);
}

interface KeepOptions {
  conversationId: string;
  model: string;
  vectors: readonly Vector[];
}

async function keep(documentId: string, { conversationId, model, vectors }: KeepOptions): Promise<void> {
  const file = {
    id: vectorsId(documentId),
    conversationId,
    data: packVectors({ model, splitVersion, vectors }),
  };
  try {
    await (await chatStorage()).addMessages(conversationId, [], [file]);
  } catch {
    // They are too large for the storage, or it is gone: the next question computes them again.
  }
}
