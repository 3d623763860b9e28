// POST /v1/embeddings: embedding vectors of one or several texts.
import type { EmbeddingResult, EmbedOptions, MemoryBudget, Model } from "@ingle/engine";
import { Embeddings, EmbeddingsRequest } from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { leaseModel, withoutAdapter, type InferenceOptions } from "../protocols/inference.ts";
import { sendPieces, toEmbeddings } from "../http/json-pieces.ts";
import { modelErrors } from "../openapi/operation.ts";
import type { EmbeddingNote } from "../http/request-outcome.ts";
import { addRoute, type Route } from "./add-route.ts";

export const embeddings = {
  path: "POST /v1/embeddings",
  right: "inference",
  isTracked: true,
  body: EmbeddingsRequest,
  summary: "Compute embedding vectors of texts",
  responses: { 200: Embeddings },
  errors: [...modelErrors, "cancelled", "context_length_exceeded", "embeddings_not_supported"],
  example: { input: ["The sky is blue.", "What colour is the sky?"] },
} satisfies Route;

export async function embeddingRoutes(
  app: FastifyInstance,
  options: Pick<InferenceOptions, "registry" | "variant">,
): Promise<void> {
  addEmbeddings(app, embeddings, options);
}

/** A route that takes and returns what `POST /v1/embeddings` does. */
export function addEmbeddings(
  app: FastifyInstance,
  route: Omit<typeof embeddings, "path"> & Pick<Route, "path">,
  options: Pick<InferenceOptions, "registry" | "variant">,
): void {
  addRoute(app, route, async (request, reply) => {
    const { model, input, dimensions, encoding_format: format } = request.body;
    const lease = withoutAdapter(await leaseModel(request, options, { model }));
    const budget = options.registry.embeddingBudget(lease.id);
    const result = await embed(request, lease.model, toInputs(input), { dimensions, budget });
    return sendPieces(reply, toEmbeddings({ model: lease.id, result, format }));
  });
}

export async function embed(
  request: FastifyRequest,
  model: Model,
  inputs: readonly (string | Int32Array)[],
  options: Pick<EmbedOptions, "dimensions" | "normalize"> & { budget: MemoryBudget | undefined },
): Promise<EmbeddingResult> {
  return recorded(request, () => model.embed(inputs, { signal: request.clientSignal, ...options }));
}

/** Computes and records the work for the log line and the traces. */
export async function recorded<Result extends Pick<EmbeddingResult, "usage">>(
  { outcome, tracked }: FastifyRequest,
  compute: () => Promise<Result>,
): Promise<Result> {
  const note: EmbeddingNote = { operation: "embeddings", startedAt: performance.now() };
  outcome.generation = note;
  tracked?.embeds();
  try {
    const result = await compute();
    outcome.promptTokens = result.usage.promptTokens;
    return result;
  } finally {
    note.endedAt = performance.now();
  }
}

function toInputs(input: EmbeddingsRequest["input"]): readonly (string | Int32Array)[] {
  return typeof input === "string" || input instanceof Int32Array ? [input] : input;
}
