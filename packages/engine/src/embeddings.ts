// Vectors of texts: what may be asked, checked once, and what is made of the engine's numbers. Used by Model.embed().
import { z } from "zod";
import { EngineError } from "./errors.ts";
import { invalidOption } from "./issue-words.ts";
import type { NativeEvent } from "./native.ts";

/** Most texts of one request, as the field's convention has it; the engine holds to it too. */
const textsMax = 2048;

/** Token ids are 32-bit; which of them the model has, the engine looks. */
const tokenMax = 0x7fff_ffff;

/** Text is tokenized with the model's special tokens; token ids are taken as they are. */
const EmbeddingInput = z.union([
  z.string().min(1, "a text must not be empty"),
  z.custom<Int32Array>((value) => value instanceof Int32Array),
  z.array(z.int().min(0).max(tokenMax)).min(1, "a text must not be empty"),
]);
export type EmbeddingInput = z.infer<typeof EmbeddingInput>;

const EmbeddingRequest = z.object({
  inputs: z.array(EmbeddingInput).min(1).max(textsMax),
  /** Numbers to keep of each vector, from the first on. Default: all. */
  dimensions: z.int().min(1).optional(),
  /** Makes each vector one of length 1. Default true. */
  normalize: z.boolean().default(true),
});
export type CheckedEmbeddingRequest = z.output<typeof EmbeddingRequest>;

export interface EmbedOptions {
  signal?: AbortSignal | undefined;
  /**
   * Keeps so many numbers of each vector, the first ones. Only models that were trained for it (Matryoshka) keep a text's
   * meaning in fewer. Default: all of `model.info.embeddingSize`; more is `invalid_request`.
   */
  dimensions?: number | undefined;
  /** Makes each vector one of length 1, after it was cut. Default true. */
  normalize?: boolean | undefined;
}

export interface EmbeddingResult {
  /** In the order of the inputs. */
  embeddings: Float32Array[];
  usage: { promptTokens: number };
  /** Milliseconds in line, and from then until the last vector was there. */
  timings: { queueMs: number; computeMs: number };
}

/** How a request reaches the engine: handed in by Model, so that this file knows no native code. */
export interface EmbeddingSource {
  /** Numbers of one vector. */
  size: number;
  tokensOf(input: EmbeddingInput): Promise<Int32Array>;
  /** Puts the texts in line; `deliver` gets one event. */
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
    throw new EngineError(
      "invalid_request",
      `dimensions: ${dimensions} is more than the ${size} numbers of this model's vectors.`,
      { details: { param: "dimensions" } },
    );
  }
  return result.data;
}

/** Rejects with the signal's reason as soon as it is aborted; what is computed by then is given up. */
export async function embed(
  request: CheckedEmbeddingRequest,
  source: EmbeddingSource,
  signal: AbortSignal | undefined,
): Promise<EmbeddingResult> {
  const texts: Int32Array[] = [];
  for (const input of request.inputs) {
    signal?.throwIfAborted();
    // One after the other: the worker threads are there for the requests of others too.
    texts.push(await source.tokensOf(input));
  }
  signal?.throwIfAborted();
  const { vectors, promptTokens, queueMs, computeMs } = await computed(texts, source, signal);
  const embeddings = texts.map((_, index) =>
    toEmbedding(vectors.subarray(index * source.size, (index + 1) * source.size), request),
  );
  return { embeddings, usage: { promptTokens }, timings: { queueMs, computeMs } };
}

type EmbeddingEvent = Extract<NativeEvent, { type: "embeddings" }>;

async function computed(
  texts: Int32Array[],
  source: EmbeddingSource,
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
    throw new EngineError("engine_failed", "The engine ended this request without a word.");
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** A copy, so that a vector that is kept does not keep all of them. */
function toEmbedding(vector: Float32Array, { dimensions, normalize }: CheckedEmbeddingRequest): Float32Array {
  const embedding = vector.slice(0, dimensions);
  if (!normalize) return embedding;
  const length = Math.sqrt(embedding.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? embedding : embedding.map((value) => value / length);
}
