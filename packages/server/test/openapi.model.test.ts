// Responses of a real (tiny) model over a socket, each checked against the server's own /openapi.json.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scriptedApp, scriptedId } from "./harness/scripted-server.ts";
import { fetchDocument, expectDocumented } from "./documented.ts";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

const templates = path.join(import.meta.dirname, "../../../vendor/llama.cpp/source/models/templates");
const chat = "POST /v1/chat/completions";

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { enum: ["Rome", "Oslo"] } }, required: ["city"] },
  },
};

describe("responses of a real model", () => {
  let server: RealServer;
  let url: string;
  beforeAll(async () => {
    const load = { contextLength: 1024, parallel: 4, speculation: "ngram" as const };
    const chatTemplate = await readFile(path.join(templates, "Qwen-Qwen3-0.6B.jinja"), "utf8");
    server = await realServer({ fixture: { vocabulary: "qwen2", chatTemplate }, load });
    url = server.baseUrl.replace(/\/v1$/, "");
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const post = async (route: string, body: object): Promise<Response> =>
    fetch(await makeAddress(route), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  /** The address of a route; where it has an id, of a new response or conversation, or of the model. */
  async function makeAddress(route: string): Promise<string> {
    if (!route.includes("{id}")) return url + route;
    if (route.startsWith("/v1/models")) return url + route.replace("{id}", modelId);
    const isConversation = route.startsWith("/v1/conversations");
    const body = isConversation
      ? { items: [{ id: "item", role: "user", content: "Hi" }] }
      : { model: modelId, input: "Hi", max_output_tokens: 1, background: true };
    const response = await post(isConversation ? "/v1/conversations" : "/v1/responses", body);
    const { id }: { id: string } = await response.json();
    return url + route.replace("{id}", id).replace("{item_id}", "item");
  }

  it("for every route's example are as documented, whole and streamed", async () => {
    const { paths } = await fetchDocument(url);
    for (const [route, methods] of Object.entries(paths)) {
      if (/^\/api\/v1\/(models\/|jobs|requests\/cancel)/.test(route)) continue; // these change what the other routes return
      if (route.includes("rerank")) continue; // they need a reranker: rerank.model.test.ts
      if (/^\/v1\/(files|batches)/.test(route)) continue; // they need a file: src/apis/openai/batches/routes.test.ts
      if (route.includes("audio")) continue; // it needs a model that takes audio: foreign/audio.model.test.ts
      if (route.endsWith("/control")) continue; // it needs a running reply: thinking.test.ts
      if (route === "/api/v1/events") continue; // its response ends with the server
      for (const [method, { requestBody, responses }] of Object.entries(methods)) {
        // A server that the app did not start refuses commands, and a session needs a key.
        if (method === "post" && /^\/api\/v1\/(server|session)/.test(route)) continue;
        const operation = `${method.toUpperCase()} ${route}`;
        const example = requestBody?.content["application/json"]?.example;
        if (typeof example !== "object" || example === null) {
          const response = await fetch(await makeAddress(route), { method: method.toUpperCase() });
          expect([operation, response.status]).toEqual([operation, 200]);
          await expectDocumented(url, operation, response);
          continue;
        }
        const body = { max_tokens: 8, ...example, model: modelId };
        const whole = await post(route, body);
        expect([operation, whole.status]).toEqual([operation, 200]);
        await expectDocumented(url, operation, whole);
        if (responses["200"]?.content["text/event-stream"] === undefined) continue;
        const streamed = await post(route, { ...body, stream: true });
        expect([operation, streamed.headers.get("content-type")]).toEqual([operation, "text/event-stream"]);
        await expectDocumented(url, operation, streamed);
      }
    }
  }, 90_000); // about fifty replies of a model with 152,000 tokens

  it.each<[what: string, field: string, options: object]>([
    ["several replies", '"index":2', { n: 3 }],
    ["a limit", '"finish_reason":"length"', { temperature: 0.7, top_k: 5, top_p: 0.9, seed: 3 }],
    ["probabilities", '"logprob":', { logprobs: true, top_logprobs: 3 }],
    ["a usage at the end", '"cached_tokens":', { stream_options: { include_usage: true } }],
    ["timings on the way", '"predicted_per_second":', { timings_per_token: true }],
    // Without reasoning, which might use all tokens of a reply before its object starts.
    [
      "a JSON object",
      '"content":"{',
      { response_format: { type: "json_object" }, reasoning_effort: "none", max_tokens: 60 },
    ],
    ["a call", '"tool_calls":[', { tools: [weather], tool_choice: "required", max_tokens: 300 }],
    [
      "drafted tokens",
      '"draft_n":',
      { logit_bias: { 400: 60, 500: 60, 600: 60, 700: 60 }, temperature: 0, max_tokens: 300 },
    ],
  ])("with %s are as documented, whole and streamed", async (_, field, options) => {
    const body = { model: modelId, messages: user("Tell me of rivers."), max_tokens: 16, ...options };
    for (const stream of [false, true]) {
      const response = await post("/v1/chat/completions", { ...body, stream });
      expect(response.status).toBe(200);
      expect(JSON.stringify(await expectDocumented(url, chat, response))).toContain(field);
    }
  });

  it.each<[string, number, object]>([
    ["a prompt that is too long", 400, { messages: user("word ".repeat(2_000)) }],
    ["an image for a model that reads text", 400, { messages: [{ role: "user", content: [image()] }] }],
    ["a grammar that is wrong", 400, { grammar: "root ::= (" }],
    ["an unknown model", 404, { model: "nobody" }],
  ])("to %s are a documented %i, streamed or not", async (_, status, options) => {
    for (const stream of [false, true]) {
      const response = await post("/v1/chat/completions", {
        model: modelId,
        messages: user("Hi"),
        stream,
        ...options,
      });
      expect(response.status).toBe(status);
      await expectDocumented(url, chat, response);
    }
  });

  it("with reasoning and drafted tokens are as documented on every route, with a scripted model, which has both at will", async () => {
    const reply = (text: string) => ({ content: text.slice(2), reasoning: text.slice(0, 2), calls: [] });
    const drafts = { drafted: 5, accepted: 3 };
    await using scripted = await scriptedApp({ script: { pieces: ["Hm", "Yes"], reply, drafts } });
    const { paths } = await fetchDocument(scripted.app);
    const shown: string[] = [];
    for (const [route, { post: operation }] of Object.entries(paths)) {
      const example = operation?.requestBody?.content["application/json"]?.example;
      if (typeof example !== "object" || example === null || !("model" in example)) continue;
      for (const stream of [false, true]) {
        const payload = { ...example, model: scriptedId, stream };
        const response = await scripted.app.inject({ method: "POST", url: route, payload });
        if (response.statusCode !== 200) continue; // what a scripted model cannot do
        const values = await expectDocumented(scripted.app, `POST ${route}`, response);
        if (/"Hm"/.test(JSON.stringify(values))) shown.push(`${route} ${stream ? "streamed" : "whole"}`);
        if (route === "/v1/chat/completions")
          expect(JSON.stringify(values)).toContain('"reasoning_content":"Hm"');
      }
    }
    const reasoning = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];
    const expected = reasoning.flatMap((route) => [`${route} whole`, `${route} streamed`]);
    expect(shown).toEqual(expect.arrayContaining(expected));
  });

  function image(): object {
    return { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  }
});
