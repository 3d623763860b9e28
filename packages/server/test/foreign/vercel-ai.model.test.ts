// The Vercel AI SDK with a real server: texts, streams, objects and tools, over chat completions and over responses.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, jsonSchema, stepCountIs, streamObject, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { modelId, type RealServer } from "../real-server.ts";
import { cities, foreignServer, question, weatherText } from "./desk.ts";

const Forecast = z.object({ city: z.enum(cities), isSunny: z.boolean() });

let server: RealServer;
beforeAll(async () => {
  server = await foreignServer();
});
afterAll(() => server[Symbol.asyncDispose]());

// Greedy: not every protocol has a seed.
const common = { prompt: question, temperature: 0, maxRetries: 0 };

function weather(asked: string[]) {
  return tool({
    description: "The weather of a city",
    inputSchema: z.object({ city: z.enum(cities) }),
    execute: async ({ city }) => {
      asked.push(city);
      return weatherText;
    },
  });
}

describe.each([
  {
    name: "openai-compatible",
    model: () =>
      createOpenAICompatible({
        name: "ingle",
        baseURL: server.baseUrl,
        supportsStructuredOutputs: true,
        includeUsage: true,
      }).chatModel(modelId),
  },
  {
    name: "openai, chat completions",
    model: () => createOpenAI({ baseURL: server.baseUrl, apiKey: "anything" }).chat(modelId),
  },
  {
    name: "openai, responses",
    model: () => createOpenAI({ baseURL: server.baseUrl, apiKey: "anything" }).responses(modelId),
  },
])("the Vercel AI SDK, $name", ({ model }) => {
  it("generates a text, with its usage", async () => {
    const result = await generateText({ ...common, model: model(), maxOutputTokens: 12 });
    expect(result.text).not.toBe("");
    expect(result.finishReason).toBe("length");
    expect(result.usage.outputTokens).toBe(12);
    expect(result.usage.inputTokens).toBeGreaterThan(5);
  });

  it("streams the same text", async () => {
    const whole = await generateText({ ...common, model: model(), maxOutputTokens: 12 });
    const result = streamText({ ...common, model: model(), maxOutputTokens: 12 });
    let text = "";
    for await (const part of result.textStream) text += part;
    expect(text).toBe(whole.text);
    expect((await result.usage).outputTokens).toBe(12);
    expect(await result.finishReason).toBe("length");
  });

  it("generates an object that matches a schema, whole and streamed", async () => {
    const { object } = await generateObject({
      ...common,
      model: model(),
      schema: Forecast,
      maxOutputTokens: 400,
    });
    expect(Forecast.parse(object)).toEqual(object);
    const stream = streamObject({ ...common, model: model(), schema: Forecast, maxOutputTokens: 400 });
    for await (const partial of stream.partialObjectStream) expect(partial).toBeTypeOf("object");
    expect(await stream.object).toEqual(object);
  });

  it("calls tools and sends their results back", async () => {
    const asked: string[] = [];
    const result = await generateText({
      ...common,
      model: model(),
      tools: { get_weather: weather(asked) },
      prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "none" }),
      stopWhen: stepCountIs(2),
      maxOutputTokens: 400,
    });
    expect(result.steps).toHaveLength(2);
    expect(asked.length).toBeGreaterThan(0);
    expect(cities).toContain(asked[0]);
    expect(result.steps[0]?.toolCalls[0]).toMatchObject({
      toolName: "get_weather",
      input: { city: asked[0] },
    });
    expect(result.text).not.toBe("");
  });

  it("streams tool calls", async () => {
    const asked: string[] = [];
    const result = streamText({
      ...common,
      model: model(),
      tools: { get_weather: weather(asked) },
      toolChoice: "required",
      maxOutputTokens: 400,
    });
    const calls = await result.toolCalls;
    expect(calls[0]).toMatchObject({ toolName: "get_weather", input: { city: asked[0] } });
    expect(await result.finishReason).toBe("tool-calls");
  });

  it("reports errors with their status, and a request that it cancels itself", async () => {
    await expect(generateText({ ...common, model: model(), temperature: -1 })).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringContaining("temperature"),
    });
    const controller = new AbortController();
    const ended = generateText({ ...common, model: model(), abortSignal: controller.signal });
    controller.abort();
    await expect(ended).rejects.toMatchObject({ name: "AbortError" });
    await expect.poll(() => server.model.stats().running).toBe(0);
  });
});

describe("the Vercel AI SDK", () => {
  it("accepts schemas that are plain JSON", async () => {
    const model = createOpenAICompatible({
      name: "ingle",
      baseURL: server.baseUrl,
      supportsStructuredOutputs: true,
    }).chatModel(modelId);
    const schema = jsonSchema<{ yes: boolean }>({
      type: "object",
      properties: { yes: { type: "boolean" } },
      required: ["yes"],
      additionalProperties: false,
    });
    const { object } = await generateObject({ ...common, model, schema, maxOutputTokens: 100 });
    expect(object.yes).toBeTypeOf("boolean");
  });
});
