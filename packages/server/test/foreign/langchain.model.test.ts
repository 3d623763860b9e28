// LangChain's ChatOpenAI with a real server: messages, streams, tools, structured output.
import { type AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { modelId, type RealServer } from "../real-server.ts";
import { cities, foreignServer, question, weatherText } from "./desk.ts";

let server: RealServer;
beforeAll(async () => {
  server = await foreignServer();
});
afterAll(() => server[Symbol.asyncDispose]());

function chat(
  fields: { maxTokens?: number; temperature?: number } = {},
  { baseUrl: baseURL, ...more }: { baseUrl: string; logit_bias?: object } = { baseUrl: server.baseUrl },
): ChatOpenAI {
  return new ChatOpenAI({
    model: modelId,
    apiKey: "anything",
    temperature: 0.5,
    maxTokens: 200,
    maxRetries: 0,
    ...fields,
    configuration: { baseURL },
    modelKwargs: { seed: 1, ...more },
  });
}

const weather = tool(async () => weatherText, {
  name: "get_weather",
  description: "The weather of a city",
  schema: z.object({ city: z.enum(cities) }),
});

const messages = [new SystemMessage("Be brief."), new HumanMessage(question)];

describe("LangChain's ChatOpenAI", () => {
  it("invokes and counts tokens", async () => {
    const response = await chat({ maxTokens: 12 }).invoke(messages);
    expect(response.text).not.toBe("");
    expect(response.usage_metadata?.output_tokens).toBe(12);
    expect(response.response_metadata).toMatchObject({ finish_reason: "length" });
  });

  it("streams the same text", async () => {
    const whole = await chat({ maxTokens: 12 }).invoke(messages);
    let sum: AIMessageChunk | undefined;
    for await (const chunk of await chat({ maxTokens: 12 }).stream(messages)) {
      sum = sum === undefined ? chunk : sum.concat(chunk);
    }
    expect(sum?.text).toBe(whole.text);
    expect(sum?.usage_metadata?.output_tokens).toBe(12);
  });

  it("batches", async () => {
    const responses = await chat({ maxTokens: 5 }).batch([messages, messages, messages]);
    expect(responses.map((response) => response.text)).toEqual(
      Array.from({ length: 3 }, () => responses[0]?.text),
    );
  });

  it("binds tools, calls them and accepts their results", async () => {
    const response = await chat().bindTools([weather], { tool_choice: "required" }).invoke(messages);
    const [call] = response.tool_calls ?? [];
    expect(call).toMatchObject({
      name: "get_weather",
      args: { city: expect.stringMatching(/^(Rome|Oslo)$/) },
    });
    const result = await weather.invoke(call!);
    expect(result).toBeInstanceOf(ToolMessage);
    const next = await chat({ maxTokens: 5 }).invoke([...messages, response, result]);
    expect(next.text).not.toBe("");
  });

  it("returns structured output by schema and by function", async () => {
    const Forecast = z.object({ city: z.enum(cities), isSunny: z.boolean() });
    for (const method of ["jsonSchema", "functionCalling"] as const) {
      const forecast = await chat()
        .withStructuredOutput(Forecast, { method, name: "forecast" })
        .invoke(messages);
      expect(Forecast.parse(forecast)).toEqual(forecast);
    }
  });

  it("reports errors with their status", async () => {
    await expect(chat({ temperature: -1 }).invoke(messages)).rejects.toMatchObject({ status: 400 });
  });
});

describe.each([
  ["our own syntax of calls", undefined, '{"tool_calls": [{"name": "'],
  ["the template's", "Qwen-Qwen2.5-7B-Instruct", "<tool_call>"],
])("LangChain's agents, with %s", (_name, template, callsBegin) => {
  let own: RealServer;
  beforeAll(async () => {
    own = await foreignServer(template);
  });
  afterAll(() => own[Symbol.asyncDispose]());

  const Forecast = z.object({ city: z.enum(cities), isSunny: z.boolean() });
  const response_format = {
    type: "json_schema" as const,
    json_schema: { name: "forecast", strict: true, schema: z.toJSONSchema(Forecast) },
  };

  it.each([
    ["a call", callsBegin],
    ["a text of it", '{"city": "'],
  ])("bind tools beside a form and get %s", async (kind, begin) => {
    const tokens = await own.model.tokenizer.encode(begin, { addSpecial: false });
    // Random weights seldom choose its first words by themselves.
    const logit_bias = Object.fromEntries(Array.from(tokens, (token) => [token, 60]));
    const bound = chat({}, { baseUrl: own.baseUrl, logit_bias }).bindTools([weather], {
      response_format,
      parallel_tool_calls: false,
    });
    const response = await bound.invoke(messages);
    const city: unknown = expect.stringMatching(/^(Rome|Oslo)$/);
    if (kind === "a call")
      expect(response.tool_calls).toMatchObject([{ name: "get_weather", args: { city } }]);
    else expect(Forecast.parse(JSON.parse(response.text))).toEqual({ city, isSunny: expect.any(Boolean) });
  });
});
