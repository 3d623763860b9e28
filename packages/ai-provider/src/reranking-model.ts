// The model behind `rerank()` of the AI SDK: POST /v1/rerank.
import type { APICallError, RerankingModelV3, RerankingModelV3CallOptions } from "@ai-sdk/provider";
import {
  combineHeaders,
  createJsonErrorResponseHandler,
  createJsonResponseHandler,
  postJsonToApi,
  type ResponseHandler,
} from "@ai-sdk/provider-utils";
import type { RerankBody } from "@ingle/protocol";
import { z } from "zod";

/** How to reach the server. */
interface RerankingConfig {
  provider: string;
  url: (options: { path: string }) => string;
  headers: () => Record<string, string>;
  fetch?: typeof globalThis.fetch;
}

const Reranking = z.object({
  id: z.string(),
  model: z.string(),
  results: z.array(z.object({ index: z.int(), relevance_score: z.number() })),
});

const failed: ResponseHandler<APICallError> = createJsonErrorResponseHandler({
  errorSchema: z.object({ error: z.object({ message: z.string() }) }),
  errorToMessage: ({ error }) => error.message,
});

export class IngleRerankingModel implements RerankingModelV3 {
  readonly specificationVersion = "v3";
  readonly provider: string;
  readonly modelId: string;
  readonly #config: RerankingConfig;

  constructor(modelId: string, config: RerankingConfig) {
    this.provider = config.provider;
    this.modelId = modelId;
    this.#config = config;
  }

  async doRerank({
    query,
    documents,
    topN,
    headers,
    abortSignal,
  }: RerankingModelV3CallOptions): Promise<Awaited<ReturnType<RerankingModelV3["doRerank"]>>> {
    const { fetch, ...config } = this.#config;
    const body = {
      model: this.modelId,
      query,
      documents: documents.values.map((each) => (typeof each === "string" ? each : JSON.stringify(each))),
      top_n: topN,
    } satisfies RerankBody;
    const { value, rawValue, responseHeaders } = await postJsonToApi({
      url: config.url({ path: "/rerank" }),
      headers: combineHeaders(config.headers(), headers),
      body,
      successfulResponseHandler: createJsonResponseHandler(Reranking),
      failedResponseHandler: failed,
      ...(abortSignal === undefined ? {} : { abortSignal }),
      ...(fetch === undefined ? {} : { fetch }),
    });
    const { id, model, results } = value;
    return {
      ranking: results.map(({ index, relevance_score: relevanceScore }) => ({ index, relevanceScore })),
      response: {
        id,
        modelId: model,
        body: rawValue,
        ...(responseHeaders === undefined ? {} : { headers: responseHeaders }),
      },
      warnings:
        documents.type === "text"
          ? []
          : [
              {
                type: "compatibility",
                feature: "object documents",
                details: "The model reads documents that are objects as JSON.",
              },
            ],
    };
  }
}
