// POST /v1/embeddings: embedding vectors of one or several texts.
import { EngineError, type EmbeddingResult, type EmbedOptions } from "@ingle/engine";
import { Embeddings, EmbeddingsRequest } from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { leaseModel, withoutAdapter, type InferenceOptions } from "../protocols/inference.ts";
import type { Lease } from "../models/registry.ts";
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
    const result = await embed(request, options, { lease, inputs: toInputs(input), dimensions });
    return sendPieces(reply, toEmbeddings({ model: lease.id, result, format }));
  });
}

interface EmbeddingWork extends Pick<EmbedOptions, "dimensions" | "normalize"> {
  lease: Lease;
  inputs: readonly (string | Int32Array)[];
}

/** Computes vectors. If the model has no memory for that, evicts others as for loading a model, and tries once more. */
export async function embed(
  request: FastifyRequest,
  options: Pick<InferenceOptions, "registry" | "variant">,
  { lease, inputs, ...rest }: EmbeddingWork,
): Promise<EmbeddingResult> {
  const { registry } = options;
  const { clientSignal: signal } = request;
  const compute = ({ id, model }: Lease): Promise<EmbeddingResult> =>
    model.embed(inputs, { signal, budget: registry.embeddingBudget(id), ...rest });
  return recorded(request, async () => {
    try {
      return await compute(lease);
    } catch (error) {
      if (!EngineError.is(error) || error.neededMemory === undefined) throw error;
      lease[Symbol.dispose](); // so that other models, whose requests may wait in the same way, can evict this one
      using reserved = await registry.reserveForEmbeddings(lease.id, error.neededMemory, signal);
      if (reserved === undefined) throw error;
      return await compute(await leaseModel(request, options, { model: lease.id }));
    }
  });
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
