// Reranking over HTTP with a tiny reranker: the shapes of each client, the order, limits and errors; and Ingle's own client.
import { Ingle } from "@ingle/client";
import { embeddingInputsMax, ErrorBody, Reranking, RerankScores } from "@ingle/protocol";
import { CohereClientV2 } from "cohere-ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDocumented } from "./documented.ts";
import { modelId, realServer, type RealServer } from "./real-server.ts";

const query = "What is a panda?";
const documents = ["A bear that lives in China.", "A kind of bread.", "hi", "The capital of France."];
const paths = ["/v1/rerank", "/v1/reranking", "/rerank", "/reranking", "/v2/rerank"];

let server: RealServer;
let address: string;
beforeAll(async () => {
  server = await realServer({ fixture: { architecture: "bert", pooling: "rank" } });
  address = server.baseUrl.replace(/\/v1$/, "");
});
afterAll(() => server[Symbol.asyncDispose]());

async function post(body: object, path = "/v1/rerank", to = address): Promise<Response> {
  return fetch(`${to}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: modelId, ...body }),
  });
}

async function rerank(body: object, path?: string): Promise<unknown> {
  const response = await post(body, path);
  expect(response.status).toBe(200);
  const [json] = await expectDocumented(address, `POST ${path ?? "/v1/rerank"}`, response);
  return json;
}

async function refused(body: object, to?: string): Promise<ErrorBody["error"]> {
  const response = await post(body, "/v1/rerank", to);
  expect(response.status).toBe(400);
  return ErrorBody.parse(await response.json()).error;
}

describe("POST /v1/rerank", () => {
  it.each(paths)("%s returns all documents, the best first", async (path) => {
    const { results, usage, model } = Reranking.parse(await rerank({ query, documents }, path));
    const scores = results.map(({ relevance_score: score }) => score);
    expect(scores).toEqual(scores.toSorted((one, other) => other - one));
    expect(results.map(({ index }) => index).toSorted((one, other) => one - other)).toEqual([0, 1, 2, 3]);
    expect(results[0]).not.toHaveProperty("document");
    expect(model).toBe(modelId);
    expect(usage.prompt_tokens).toBeGreaterThan(4 * 6);
    expect(usage.total_tokens).toBe(usage.prompt_tokens);
    const { scores: own } = await server.model.rerank(query, documents);
    for (const { index, relevance_score: score } of results) expect(score).toBeCloseTo(own[index] ?? 0, 4);
  });

  it("returns the best with top_n, and their texts if asked", async () => {
    const all = Reranking.parse(await rerank({ query, documents }));
    const two = Reranking.parse(await rerank({ query, documents, top_n: 2, return_documents: true }));
    expect(two.results).toHaveLength(2);
    for (const [place, { index, document }] of two.results.entries()) {
      expect(index).toBe(all.results[place]?.index);
      expect(document?.text).toBe(documents[index]);
    }
    expect(Reranking.parse(await rerank({ query, documents, top_n: 99 })).results).toHaveLength(4);
  });

  it("takes documents that are objects, as Cohere's clients send them", async () => {
    const plain = Reranking.parse(await rerank({ query, documents }));
    const objects = documents.map((text) => ({ text, title: "ignored" }));
    expect(Reranking.parse(await rerank({ query, documents: objects })).results).toEqual(plain.results);
  });

  it("returns a list for texts, as Text Embeddings Inference does", async () => {
    const { results } = Reranking.parse(await rerank({ query, documents }));
    const list = RerankScores.parse(await rerank({ query, texts: documents, return_text: true }));
    expect(list).toEqual(
      results.map(({ index, relevance_score: score }) => ({ index, score, text: documents[index] })),
    );
  });

  it("names what it ignores", async () => {
    const response = await post({
      query,
      documents,
      truncate: true,
      max_tokens_per_doc: 5,
      raw_scores: true,
    });
    expect(response.headers.get("x-ingle-ignored")).toBe("truncate, max_tokens_per_doc");
  });

  it.each([
    ["no query", { documents }, "query"],
    ["no documents", { query }, "documents"],
    ["an empty list", { query, documents: [] }, "documents"],
    ["numbers", { query, documents: [1, 2] }, "documents"],
    ["both names", { query, documents, texts: documents }, "texts"],
    [
      "too many",
      { query, documents: Array.from({ length: embeddingInputsMax + 1 }, () => "a") },
      "documents",
    ],
    ["a top_n of 0", { query, documents, top_n: 0 }, "top_n"],
  ])("refuses %s by name", async (_, body, field) => {
    const { code, param } = await refused(body);
    expect(code).toBe("invalid_request");
    expect(param).toMatch(new RegExp(`^${field}`));
  });

  it("refuses a document that is too long, with both lengths", async () => {
    const error = await refused({ query, documents: ["hi", "bear ".repeat(3_000)] });
    expect(error).toMatchObject({ code: "context_length_exceeded", n_ctx: 512 });
  });

  it("refuses a model that cannot rerank", async () => {
    await using other = await realServer({ load: { contextLength: 256 } });
    const error = await refused({ query, documents }, other.baseUrl.replace(/\/v1$/, ""));
    expect(error).toMatchObject({ code: "reranking_not_supported" });
  });
});

it("Cohere's client returns the same", async () => {
  const client = new CohereClientV2({ environment: address, token: "anything", maxRetries: 0 });
  const { results } = await client.rerank({ model: modelId, query, documents, topN: 2 });
  const expected = Reranking.parse(await rerank({ query, documents, top_n: 2 }));
  expect(results.map(({ index, relevanceScore }) => [index, relevanceScore])).toEqual(
    expected.results.map(({ index, relevance_score }) => [index, relevance_score]),
  );
  const unknown = client.rerank({ model: "nobody", query, documents });
  await expect(unknown).rejects.toMatchObject({ statusCode: 404 });
});

it("Ingle's client returns the same", async () => {
  const client = new Ingle({ baseUrl: address });
  const { results } = await client.rerank({ model: modelId, query, documents, top_n: 3 });
  expect(results).toEqual(Reranking.parse(await rerank({ query, documents, top_n: 3 })).results);
  const wrong = client.rerank({ model: modelId, query, documents: [] });
  await expect(wrong).rejects.toMatchObject({ name: "ApiError", code: "invalid_request" });
});
