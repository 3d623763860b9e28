// POST /v1/rerank: scores how well documents fit a query.
import { Reranking, RerankRequest, RerankScores } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { modelErrors } from "../../openapi/operation.ts";
import { leaseModel, refuseAdapter, type InferenceOptions } from "../../generation/inference.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import { recorded } from "../../generation/embeddings.ts";

const rerank = {
  path: "POST /v1/rerank",
  right: "inference",
  isTracked: true,
  body: RerankRequest,
  summary: "Order documents by how well they fit a query",
  responses: { 200: z.union([Reranking, RerankScores]) },
  errors: [...modelErrors, "cancelled", "context_length_exceeded", "reranking_not_supported"],
  example: { query: "What is a panda?", documents: ["A bear of China.", "A kind of bread."] },
} satisfies Route;

interface Scored {
  index: number;
  score: number;
  text: string;
}

export function addReranking(
  app: FastifyInstance,
  options: Pick<InferenceOptions, "registry" | "variant" | "newId">,
): void {
  addRoute(app, rerank, async (request) => {
    const { model, query, documents, texts } = request.body;
    const lease = refuseAdapter(await leaseModel(request, options, { model }));
    const all = documents ?? texts ?? [];
    const { scores, usage } = await recorded(request, () =>
      lease.model.rerank(query, all, { signal: request.clientSignal }),
    );
    const best = ordered(scores, all).slice(0, request.body.top_n);
    return documents === undefined
      ? toScores(best, request.body)
      : ({
          id: `rerank-${options.newId()}`,
          object: "list",
          model: lease.id,
          results: toResults(best, request.body),
          usage: { prompt_tokens: usage.promptTokens, total_tokens: usage.promptTokens },
        } satisfies Reranking);
  });
}

/** Best first; equal scores keep the order of the request. */
function ordered(scores: readonly number[], texts: readonly string[]): Scored[] {
  return scores
    .map((score, index) => ({ index, score, text: texts[index] ?? "" }))
    .toSorted((one, other) => other.score - one.score);
}

function toResults(best: readonly Scored[], { return_documents: isFull = false }: RerankRequest) {
  return best.map(({ index, score, text }) => ({
    index,
    relevance_score: score,
    ...(isFull ? { document: { text } } : {}),
  })) satisfies Reranking["results"];
}

function toScores(best: readonly Scored[], { return_text: isFull = false }: RerankRequest): RerankScores {
  return best.map(({ index, score, text }) => ({ index, score, ...(isFull ? { text } : {}) }));
}
