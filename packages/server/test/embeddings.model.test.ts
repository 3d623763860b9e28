// Embeddings over HTTP with a real engine: during chats, after a client disconnects, and from a model that cannot chat.
import { Embeddings, type EmbeddingsBody } from "@ingle/protocol";
import { until } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

type Body = Omit<EmbeddingsBody, "model">;

async function post({ baseUrl }: RealServer, body: Body, signal?: AbortSignal): Promise<Response> {
  return fetch(`${baseUrl}/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: modelId, ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function vectors(server: RealServer, body: Body): Promise<number[][]> {
  const response = await post(server, body);
  expect(response.status).toBe(200);
  const { data } = Embeddings.parse(await response.json());
  return data.map(({ embedding }) => (typeof embedding === "string" ? decodeFloats(embedding) : embedding));
}

function decodeFloats(base64: string): number[] {
  const bytes = Buffer.from(base64, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(4 * index));
}

function cosine(one: readonly number[] = [], other: readonly number[] = []): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

const bert = { architecture: "bert" } as const;
const many = Array.from({ length: 400 }, () => Array.from({ length: 50 }, () => 7));

describe.each([
  ["an encoder", bert],
  ["a generative model", {}],
] as const)("POST /v1/embeddings of %s", (_, fixture) => {
  it("have a cosine of 1 for equal texts, as numbers and as base64", async () => {
    await using server = await realServer({ fixture });
    const input = ["a river in winter", "a copper lantern", "a river in winter"];
    const [one, other, again] = await vectors(server, { input });
    expect(cosine(one, again)).toBeCloseTo(1, 3);
    expect(cosine(one, other)).toBeLessThan(0.9999);
    const encoded = await vectors(server, { input: input[0] ?? "", encoding_format: "base64" });
    expect(cosine(encoded[0], one)).toBeCloseTo(1, 3);
  });

  it("stop when the client disconnects, and the next request succeeds", async () => {
    await using server = await realServer({ fixture });
    const controller = new AbortController();
    const pending = post(server, { input: many }, controller.signal);
    await until(() => server.model.stats().running === 1);
    controller.abort();
    await expect(pending).rejects.toThrow();
    await until(() => server.model.stats().running === 0);
    expect(await vectors(server, { input: "after" })).toHaveLength(1);
  });

  it("of a text that is too long are a 400 with both numbers", async () => {
    await using server = await realServer({ fixture, load: { contextLength: 256 } });
    const response = await post(server, { input: Array.from({ length: 257 }, () => 5) });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "context_length_exceeded", n_prompt_tokens: 257, n_ctx: 256 },
    });
  });
});

describe("embeddings and chats", () => {
  it("run in parallel: a stream continues while hundreds of texts are computed", async () => {
    await using server = await realServer();
    const chat = { messages: user("Tell me about rivers."), temperature: 0, max_tokens: 30 };
    const alone: unknown = await (await server.post(chat)).json();
    let isDone = false;
    const embeddings = (async () => {
      const found = await vectors(server, { input: many, encoding_format: "base64" });
      isDone = true;
      return found;
    })();
    await until(() => server.model.stats().running === 1);
    const beside: unknown = await (await server.post(chat)).json();
    expect(isDone).toBe(false);
    expect(beside).toMatchObject({ choices: (alone as { choices: unknown }).choices });
    expect(await embeddings).toHaveLength(many.length);
  });

  it("an encoder answers a chat with 400 and continues", async () => {
    await using server = await realServer({ fixture: bert });
    const response = await server.post({ messages: user("Hello") });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "generation_not_supported" } });
    expect(await vectors(server, { input: "Hello" })).toHaveLength(1);
  });

  it("a reranker answers with 400 that it has no embeddings", async () => {
    await using server = await realServer({ fixture: { pooling: "rank" } });
    const response = await post(server, { input: "Hello" });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "embeddings_not_supported" } });
  });
});
