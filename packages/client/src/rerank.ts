// `client.rerank`: scores how well documents fit a query.
import type { RerankBody, Reranking } from "@ingle/protocol";

import { hasList, isRecord } from "./response-body.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Orders documents by how well they fit the query, best first. Needs a reranker model. */
export type Rerank = (
  body: RerankBody & { documents: NonNullable<RerankBody["documents"]> },
  options?: CallOptions,
) => Promise<Reranking>;

function isReranking(value: unknown): value is Reranking {
  return (
    hasList(value, "results") &&
    value["results"].every((result) => isRecord(result) && typeof result["relevance_score"] === "number")
  );
}

export function createRerank(transport: Transport): Rerank {
  return (body, { signal } = {}) =>
    transport.json({ method: "POST", path: "/v1/rerank", body, signal }, isReranking);
}
