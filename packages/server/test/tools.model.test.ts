// Tools over HTTP with the official openai client, on tiny models with the templates of real ones.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { ErrorBody } from "@ingle/protocol";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatTemplate, modelId, realServer, user, type RealServer } from "./real-server.ts";

const templates = path.join(import.meta.dirname, "../../../vendor/llama.cpp/source/models/templates");

const weather: OpenAI.ChatCompletionTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { enum: ["Rome", "Oslo"] } }, required: ["city"] },
  },
};

describe.each(["chatml", "LFM2-8B-A1B", "Qwen-Qwen3-0.6B"])("tools with the template of %s", (template) => {
  let server: RealServer;
  let openai: OpenAI;
  beforeAll(async () => {
    const source =
      template === "chatml" ? undefined : await readFile(path.join(templates, `${template}.jinja`), "utf8");
    const fixture = { vocabulary: "qwen2", ...(source === undefined ? {} : { chatTemplate: source }) };
    server = await realServer({ fixture, load: { contextLength: 2048, parallel: 2 } });
    openai = new OpenAI({ baseURL: server.baseUrl, apiKey: "anything", maxRetries: 0 });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const request = {
    model: modelId,
    messages: user("What is the weather in Rome?"),
    tools: [weather],
    tool_choice: "required" as const,
    parallel_tool_calls: false,
    temperature: 0.5,
    max_tokens: 400,
    seed: 1,
  };

  it("are called, the same streamed as in one piece, and their results are accepted", async () => {
    const { message, finish_reason } = (await openai.chat.completions.create(request)).choices[0]!;
    expect(finish_reason).toBe("tool_calls");
    expect(message.content).toBeNull();
    const [call] = message.tool_calls ?? [];
    if (call?.type !== "function") throw new Error("no call");
    expect(call.function.name).toBe("get_weather");
    expect(["Rome", "Oslo"]).toContain(JSON.parse(call.function.arguments).city);

    let fragments = "";
    const reasons: (string | null)[] = [];
    for await (const chunk of await openai.chat.completions.create({ ...request, stream: true })) {
      for (const choice of chunk.choices) {
        reasons.push(choice.finish_reason);
        for (const part of choice.delta.tool_calls ?? []) fragments += part.function?.arguments ?? "";
      }
    }
    expect(JSON.parse(fragments)).toEqual(JSON.parse(call.function.arguments));
    expect(reasons.filter(Boolean)).toEqual(["tool_calls"]);

    const response = await openai.chat.completions.create({
      ...request,
      tool_choice: "auto",
      max_tokens: 5,
      messages: [...request.messages, message, { role: "tool", tool_call_id: call.id, content: "Sunny." }],
    });
    expect(response.choices[0]?.finish_reason).toBe("length");
  });

  it("are never called with tool_choice none", async () => {
    const response = await openai.chat.completions.create({
      ...request,
      tool_choice: "none",
      max_tokens: 10,
    });
    expect(response.choices[0]?.message.tool_calls).toBeUndefined();
    expect(response.choices[0]?.message.content).not.toBe("");
  });

  it("cut by max_tokens end with length", async () => {
    const response = await openai.chat.completions.create({ ...request, max_tokens: 4 });
    expect(response.choices[0]?.finish_reason).toBe("length");
  });

  it("may be many and large", async () => {
    const field = { type: "string", description: "What it is, in many words. ".repeat(10) };
    const many = Array.from({ length: 60 }, (_, index) => ({
      type: "function",
      function: {
        name: `tool_${index}`,
        parameters: {
          type: "object",
          properties: {
            a: field,
            b: { type: "array", items: field },
            c: { type: "object", properties: { d: field } },
          },
        },
      },
    }));
    const begin = performance.now();
    const response = await server.post({ ...request, tools: many, max_tokens: 3 });
    // Larger than this model's context: must be refused in time.
    expect(ErrorBody.parse(await response.json()).error.code).toBe("context_length_exceeded");
    expect(performance.now() - begin).toBeLessThan(10_000);
  });

  it("with parameters that were made to crash get a response, and the server continues", async () => {
    const nested = (depth: number): object =>
      Array.from({ length: depth }).reduce<object>((items) => ({ type: "array", items }), {});
    const parameters = [
      nested(200),
      nested(1_000),
      { type: "object", properties: { a: { type: "string", pattern: `^${"(".repeat(60_000)}$` } } },
      { type: "object", properties: { a: { type: "string", pattern: "^(a$" } } },
      { type: "object", properties: { [" ".repeat(100_000)]: { type: "string" } } },
      { type: "object", properties: { a: { type: "integer", minimum: -1e300, maximum: 1e300 } } },
      {
        type: "object",
        properties: {
          a: { type: "string", maxLength: 1e15 },
          b: { type: "string", minLength: 9, maxLength: 2 },
        },
      },
      { type: "object", properties: { a: { $ref: "#/nowhere" } } },
      { type: "object", properties: { a: { $ref: "#" } } },
      { type: 5 },
    ];
    for (const each of parameters) {
      const tools = [{ type: "function", function: { name: "f", parameters: each } }];
      const response = await server.post({ ...request, tools, max_tokens: 2 });
      expect([200, 400]).toContain(response.status);
    }
    const calls = [
      {
        id: "c",
        type: "function",
        function: { name: "f", arguments: `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}` },
      },
    ];
    const response = await server.post({
      messages: [{ role: "assistant", content: null, tool_calls: calls }, ...user("Hi")],
      max_tokens: 2,
    });
    expect(ErrorBody.parse(await response.json()).error.param).toBe(
      "messages[0].tool_calls[0].function.arguments",
    );
    expect((await server.post({ messages: user("still here"), max_tokens: 2 })).status).toBe(200);
  });
});

// Qwen Code's own tools have such types, and these two templates put the types together as texts.
it.each(["NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use"])(
  "tools with nullable parameters can be called with the template of %s",
  async (template) => {
    await using server = await realServer({
      fixture: { vocabulary: "qwen2", chatTemplate: await chatTemplate(template) },
      load: { contextLength: 2048 },
    });
    const openai = new OpenAI({ baseURL: server.baseUrl, apiKey: "anything", maxRetries: 0 });
    const limit = { type: ["integer", "null"] };
    const parameters = { type: "object", properties: { limit }, required: ["limit"] };
    const ask = (tool_choice: "auto" | "required") =>
      openai.chat.completions.create({
        model: modelId,
        messages: user("Read it."),
        tools: [{ type: "function", function: { name: "read_file", parameters } }],
        tool_choice,
        max_tokens: 200,
        logit_bias: { [server.model.info.tokens.eos]: 2 },
        seed: 1,
      });
    expect((await ask("auto")).choices).toHaveLength(1);
    const { message, finish_reason } = (await ask("required")).choices[0]!;
    expect(finish_reason).toBe("tool_calls");
    const [call] = message.tool_calls ?? [];
    const given: unknown = call?.type === "function" && JSON.parse(call.function.arguments).limit;
    expect(given === null || Number.isInteger(given)).toBe(true);
  },
);
