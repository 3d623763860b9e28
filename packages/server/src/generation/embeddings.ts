// Computes vectors and scores for the routes of every API, and records the work for the log line and the traces.
import { EngineError, type EmbeddingResult, type EmbedOptions } from "@ingle/engine";
import type { FastifyRequest } from "fastify";
import type { EmbeddingNote } from "../http/request-outcome.ts";
import type { Lease } from "../models/slot/slot-interface.ts";
import { leaseModel, type InferenceOptions } from "./inference.ts";

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
