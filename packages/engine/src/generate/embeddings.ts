// Embeddings of texts: checks a request, and turns the engine's numbers into vectors.
import { z } from "zod";
import { EngineError, invalidRequest } from "../base/errors.ts";
import { invalidOption } from "../base/issue-message.ts";
import type { MemoryBudget } from "../machine/memory.ts";
import type { NativeEvent } from "../native/addon.ts";

/** Maximum number of texts per request, as in OpenAI's API; the engine has the same limit. */
export const textsMax = 2048;

/** Token ids are 32-bit; the engine checks whether the model has them. */
const tokenMax = 0x7fff_ffff;

/** A text, which is tokenized with the model's special tokens, or token ids, which are used as they are. */
const EmbeddingInput = z.union([
  z.string().min(1, "a text must not be empty"),
  z.custom<Int32Array>((value) => value instanceof Int32Array),
  z.array(z.int().min(0).max(tokenMax)).min(1, "a text must not be empty"),
]);
export type EmbeddingInput = z.infer<typeof EmbeddingInput>;

const EmbeddingRequest = z.object({
  inputs: z.array(EmbeddingInput).min(1).max(textsMax),
  dimensions: z.int().min(1).optional(),
  normalize: z.boolean().default(true),
});
type CheckedEmbeddingRequest = z.output<typeof EmbeddingRequest>;

export interface EmbedOptions {
  signal?: AbortSignal | undefined;
  /**
   * How many numbers of each vector to keep, from the first on. Only models trained for this (Matryoshka) keep a text's meaning in
   * fewer numbers. Default: all `model.info.embeddingSize`; more is `invalid_request`.
   */
  dimensions?: number | undefined;
  /** Whether to scale each vector to length 1, after keeping `dimensions`. Default true. */
  normalize?: boolean | undefined;
  /**
   * The memory that the context for embeddings may take: pass what the model and others leave of a budget. The context is created
   * for the first request, and recreated for longer texts; if it would take more, the request fails with `out_of_memory`, and the
   * error's `neededMemory` says how much it needs. An embedding model's memory is in its footprint (`fitModel()`), and not
   * limited by this. Default: the free memory.
   */
  budget?: MemoryBudget | undefined;
}

export interface EmbeddingResult {
  /** One vector for each input, in the same order. */
  embeddings: Float32Array[];
  usage: { promptTokens: number };
  /** Milliseconds in the waiting queue, and from then until the last vector was computed. */
  timings: { queueMs: number; computeMs: number };
}

/** The engine as this file needs it; `Model` implements it. */
export interface EmbeddingSource {
  /** The numbers of one vector. */
  size: number;
  tokenizeInput(input: EmbeddingInput): Promise<Int32Array>;
  /** Queues the texts; `deliver` gets a single event. */
  start(texts: Int32Array[], deliver: (event: NativeEvent) => void): { cancel: () => void };
  toError(event: Extract<NativeEvent, { type: "error" }>): unknown;
}

/** Checks a request; throws `invalid_request` with the field in `details.param`. */
export function checkEmbeddingRequest(
  inputs: readonly EmbeddingInput[],
  { dimensions, normalize }: EmbedOptions,
  size: number,
): CheckedEmbeddingRequest {
  const result = EmbeddingRequest.safeParse({ inputs, dimensions, normalize });
  if (!result.success) throw invalidOption(result.error, result.error.issues[0]);
  if (dimensions !== undefined && dimensions > size) {
    throw invalidRequest(
      "dimensions",
      `${dimensions} is more than the ${size} numbers of this model's vectors.`,
    );
  }
  return result.data;
}

/** Rejects with the signal's reason as soon as it is aborted; computed vectors are dropped. */
export async function embed(
  request: CheckedEmbeddingRequest,
  source: EmbeddingSource,
  signal: AbortSignal | undefined,
): Promise<EmbeddingResult> {
  const texts: Int32Array[] = [];
  for (const input of request.inputs) {
    signal?.throwIfAborted();
    // One at a time, so that other requests can use the worker threads too.
    texts.push(await source.tokenizeInput(input));
  }
  signal?.throwIfAborted();
  const { vectors, promptTokens, queueMs, computeMs } = await computeTexts(texts, source, signal);
  const embeddings = texts.map((_, index) =>
    toEmbedding(vectors.subarray(index * source.size, (index + 1) * source.size), request),
  );
  return { embeddings, usage: { promptTokens }, timings: { queueMs, computeMs } };
}

type EmbeddingEvent = Extract<NativeEvent, { type: "embeddings" }>;

/** Rejects as `embed` does. */
export async function computeTexts(
  texts: Int32Array[],
  source: Pick<EmbeddingSource, "start" | "toError">,
  signal: AbortSignal | undefined,
): Promise<EmbeddingEvent> {
  let onAbort = (): void => {};
  try {
    const event = await new Promise<NativeEvent | undefined>((resolve) => {
      const { cancel } = source.start(texts, resolve);
      onAbort = () => {
        cancel();
        resolve(undefined);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
    });
    if (event?.type === "embeddings") return event;
    if (event?.type === "error") throw source.toError(event);
    signal?.throwIfAborted();
    throw new EngineError("engine_failed", "The engine ended this request without a result.");
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Copies the vector, so that keeping one vector does not keep the memory of all. */
function toEmbedding(vector: Float32Array, { dimensions, normalize }: CheckedEmbeddingRequest): Float32Array {
  const embedding = vector.slice(0, dimensions);
  if (!normalize) return embedding;
  const length = Math.sqrt(embedding.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? embedding : embedding.map((value) => value / length);
}
