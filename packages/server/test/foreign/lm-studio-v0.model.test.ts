// LM Studio's API v0 with a real server over a real socket: the openai package for completions, and plain requests.
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDocumented } from "../documented.ts";
import { modelId, realServer, type RealServer } from "../real-server.ts";
import { foreignServer, question } from "./desk.ts";

const flags = { lmStudioApi: true };
const messages = [{ role: "user" as const, content: question }];
const greedy = { temperature: 0, max_tokens: 12 };

const toAddress = ({ baseUrl }: RealServer): string => baseUrl.replace(/\/v1$/, "");

async function post(server: RealServer, path: string, body: object, key = "none"): Promise<Response> {
  return await fetch(`${toAddress(server)}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: modelId, ...body }),
  });
}

/** The body of a response that the API's document describes. */
async function documented(server: RealServer, operation: string, response: Response) {
  await expectDocumented(toAddress(server), operation, response.clone());
  return await response.json();
}

describe("completions of API v0", () => {
  let server: RealServer;
  let openai: OpenAI;
  beforeAll(async () => {
    server = await foreignServer(undefined, { flags });
    openai = new OpenAI({ baseURL: `${toAddress(server)}/api/v0`, apiKey: "none" });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("reply to a chat as /v1 does, with statistics", async () => {
    const usual = await (await server.post({ messages, ...greedy })).json();
    const response = await post(server, "/api/v0/chat/completions", { messages, ...greedy });
    const reply = await documented(server, "POST /api/v0/chat/completions", response);
    expect(reply.choices).toEqual(usual.choices);
    const { stats, model_info, runtime } = reply;
    expect(stats.stop_reason).toBe("maxPredictedTokensReached");
    expect(stats.time_to_first_token).toBeGreaterThan(0);
    expect(stats.tokens_per_second).toBeCloseTo(11 / stats.generation_time, 3);
    expect(model_info).toEqual({ arch: "llama", quant: "F32", format: "gguf", context_length: 2048 });
    expect(runtime).toEqual({ name: "ingle", version: expect.any(String), supported_formats: ["gguf"] });
  });

  it("say why a reply ended", async () => {
    const stopReason = async (body: object): Promise<string> =>
      (await (await post(server, "/api/v0/chat/completions", { messages, ...greedy, ...body })).json()).stats
        .stop_reason;
    const whole = await (await server.post({ messages, ...greedy })).json();
    const stop = whole.choices[0].message.content.slice(2, 5);
    expect(await stopReason({ stop })).toBe("stopStringFound");
    expect(await stopReason({ response_format: schema, max_tokens: 100 })).toBe("eosFound");
    expect(await stopReason({ max_tokens: -1, ignore_eos: true })).toBe("contextLengthReached");
  });

  it("stream through the openai package, with statistics in the last chunk", async () => {
    const request = { model: modelId, messages, ...greedy };
    const whole = await openai.chat.completions.create(request);
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await openai.chat.completions.create({ ...request, stream: true }))
      chunks.push(chunk);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(chunks.filter((chunk) => "stats" in chunk)).toEqual([chunks.at(-1)]);
    const stream = await post(server, "/api/v0/chat/completions", { ...request, stream: true });
    const events = await expectDocumented(toAddress(server), "POST /api/v0/chat/completions", stream);
    expect(events.at(-1)).toMatchObject({ stats: { stop_reason: "maxPredictedTokensReached" } });
  });

  it("continue texts, whole and streamed", async () => {
    const operation = "POST /api/v0/completions";
    const request = { prompt: ["The sky", "The sea"], n: 2, ...greedy };
    const response = await post(server, "/api/v0/completions", request);
    const whole = await documented(server, operation, response);
    expect(whole.choices).toHaveLength(4);
    expect(whole.stats.tokens_per_second).toBeCloseTo(44 / whole.stats.generation_time, 1);
    const stream = await post(server, "/api/v0/completions", { prompt: "The sky", stream: true });
    const events = await expectDocumented(toAddress(server), operation, stream);
    // The request has no limit: 16 tokens are the default.
    expect(events.at(-1)).toMatchObject({ stats: { stop_reason: "maxPredictedTokensReached" } });
  });

  it("list and describe the model, loaded and not", async () => {
    const loaded = {
      id: modelId,
      object: "model",
      type: "llm",
      publisher: "local",
      arch: "llama",
      compatibility_type: "gguf",
      quantization: "F32",
      state: "loaded",
      loaded_context_length: 2048,
      capabilities: [],
    };
    const list = await fetch(`${toAddress(server)}/api/v0/models`);
    const { data } = await documented(server, "GET /api/v0/models", list);
    expect(data).toMatchObject([loaded]);
    expect(data[0].max_context_length).toBeGreaterThanOrEqual(2048);
    const one = await fetch(`${toAddress(server)}/api/v0/models/${modelId}`);
    expect(await documented(server, "GET /api/v0/models/{id}", one)).toEqual(data[0]);
    expect((await openai.models.retrieve(modelId)).id).toBe(modelId);
    expect((await fetch(`${toAddress(server)}/api/v0/models/absent`)).status).toBe(404);

    await fetch(`${toAddress(server)}/api/v1/models/unload`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: modelId }),
    });
    const free = await (await fetch(`${toAddress(server)}/api/v0/models/${modelId}`)).json();
    expect(free).toMatchObject({ state: "not-loaded", max_context_length: data[0].max_context_length });
    expect(free).not.toHaveProperty("loaded_context_length");
  });

  it("unload the model after ttl seconds without use", async () => {
    const reply = await post(server, "/api/v0/chat/completions", { messages, ...greedy, ttl: 1 });
    expect(reply.headers.get("x-ingle-ignored")).toBeNull();
    expect((await reply.json()).choices).toHaveLength(1);
    const fetchState = async () =>
      (await (await fetch(`${toAddress(server)}/api/v0/models/${modelId}`)).json()).state;
    expect(await fetchState()).toBe("loaded");
    await expect.poll(fetchState, { timeout: 10_000 }).toBe("not-loaded");
  });

  it("name a draft model as ignored, and refuse a wrong ttl", async () => {
    const ignored = await post(server, "/api/v0/completions", {
      prompt: "x",
      ...greedy,
      draft_model: "small",
    });
    expect(ignored.headers.get("x-ingle-ignored")).toBe("draft_model");
    const refused = await post(server, "/api/v0/chat/completions", { messages, ttl: 0 });
    expect([refused.status, (await refused.json()).error.param]).toEqual([400, "ttl"]);
  });
});

const schema = {
  type: "json_schema",
  json_schema: { name: "answer", schema: { enum: ["yes"] } },
};

it("embeddings of API v0 are those of /v1", async () => {
  await using server = await realServer({ fixture: { architecture: "bert" }, flags });
  const input = ["The harbour is quiet.", "Copper and rain"];
  const response = await post(server, "/api/v0/embeddings", { input });
  const own = await documented(server, "POST /api/v0/embeddings", response);
  expect(own).toEqual(await (await post(server, "/v1/embeddings", { input })).json());
  expect(own.data).toHaveLength(2);
});

describe("access to API v0", () => {
  it("lets an inference key generate and list; its ttl is ignored by name", async () => {
    const keys = { apiKey: ["inference-key"], adminKey: ["admin-key"] };
    await using server = await foreignServer(undefined, { flags: { ...flags, ...keys } });
    const body = { messages, ...greedy, ttl: 1 };
    const reply = await post(server, "/api/v0/chat/completions", body, "inference-key");
    expect([reply.status, reply.headers.get("x-ingle-ignored")]).toEqual([200, "ttl"]);
    const admin = await post(server, "/api/v0/chat/completions", body, "admin-key");
    expect([admin.status, admin.headers.get("x-ingle-ignored")]).toEqual([200, null]);
    expect((await fetch(`${toAddress(server)}/api/v0/models`)).status).toBe(401);
  });

  it("is there by default only in the developer variant", async () => {
    const fetchStatus = async (options: object): Promise<number> => {
      await using server = await foreignServer(undefined, { flags: options });
      return (await fetch(`${toAddress(server)}/api/v0/models`)).status;
    };
    expect(await fetchStatus({})).toBe(404);
    expect(await fetchStatus({ variant: "developer" })).toBe(200);
    expect(await fetchStatus({ variant: "developer", lmStudioApi: false })).toBe(404);
  });
});
