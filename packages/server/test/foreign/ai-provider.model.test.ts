// Our own provider for the Vercel AI SDK with a real server: chats, tools, images, structured output, completions, embeddings,
// reranking.
import { createIngle, type IngleChatOptions, type IngleProvider } from "@ingle/ai-provider";
import { drawImage, encodePng } from "@ingle/fixtures";
import {
  cosineSimilarity,
  embedMany,
  generateText,
  NoSuchModelError,
  Output,
  rerank,
  stepCountIs,
  streamText,
  tool,
  type LanguageModelUsage,
} from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { chatTemplate, modelId, realServer, type RealServer } from "../real-server.ts";
import { agentServer, cities, question, weatherText } from "./desk.ts";

const common = { prompt: question, temperature: 0, maxRetries: 0 };

describe("@ingle/ai-provider", () => {
  let server: RealServer;
  let ingle: IngleProvider;
  /** The bodies of the requests, in order. */
  let sent: Record<string, unknown>[] = [];
  beforeAll(async () => {
    server = await agentServer();
    const fetchAndNote: typeof fetch = async (url, init) => {
      if (typeof init?.body === "string") sent.push(JSON.parse(init.body));
      return await fetch(url, init);
    };
    ingle = createIngle({ baseURL: `${server.baseUrl}/`, apiKey: "anything", fetch: fetchAndNote });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("sends topK and Ingle's own fields, and warns of nothing", async () => {
    sent = [];
    const options: IngleChatOptions = { min_p: 0.1, chat_template_kwargs: { enable_thinking: false } };
    const { text, warnings } = await generateText({
      ...common,
      model: ingle(modelId),
      topK: 3,
      seed: 1,
      maxOutputTokens: 5,
      providerOptions: { ingle: options },
    });
    expect(text).not.toBe("");
    expect(warnings).toEqual([]);
    expect(sent).toMatchObject([{ top_k: 3, ...options }]);
  });

  it("streams the text that it gets whole, with its usage", async () => {
    const request = { ...common, model: ingle.chatModel(modelId), maxOutputTokens: 12 };
    const whole = await generateText(request);
    const streamed = streamText(request);
    let text = "";
    for await (const piece of streamed.textStream) text += piece;
    expect(text).toBe(whole.text);
    const usage: LanguageModelUsage = await streamed.usage;
    expect([usage.outputTokens, usage.inputTokenDetails.cacheReadTokens]).toEqual([
      12,
      whole.usage.inputTokens! - 1,
    ]);
  });

  it("calls tools, and returns objects of a schema", async () => {
    const Forecast = z.object({ city: z.enum(cities), isSunny: z.boolean() });
    const { steps } = await generateText({
      ...common,
      model: ingle(modelId),
      tools: {
        get_weather: tool({
          description: "The weather of a city",
          inputSchema: z.object({ city: z.enum(cities) }),
          execute: async () => weatherText,
        }),
      },
      prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "auto" }),
      providerOptions: { ingle: { parallel_tool_calls: false } satisfies IngleChatOptions },
      stopWhen: stepCountIs(2),
      maxOutputTokens: 120,
    });
    expect(steps[0]?.toolResults[0]?.output).toBe(weatherText);
    expect(steps).toHaveLength(2);
    const { output } = await generateText({
      ...common,
      model: ingle(modelId),
      output: Output.object({ schema: Forecast }),
      maxOutputTokens: 400,
    });
    expect(Forecast.parse(output)).toEqual(output);
  });

  it("completes a text, whole and streamed", async () => {
    const request = { ...common, model: ingle.completionModel(modelId), maxOutputTokens: 8, topK: 2 };
    const whole = await generateText(request);
    expect([whole.usage.outputTokens, whole.warnings]).toEqual([8, []]);
    expect(await streamText(request).text).toBe(whole.text);
  });

  it("reports an unknown model, images that nobody makes, and an address that is none", async () => {
    const unknown = generateText({ ...common, model: ingle("nobody") });
    await expect(unknown).rejects.toMatchObject({
      statusCode: 404,
      message: expect.stringContaining("nobody"),
    });
    expect(() => ingle.imageModel("x")).toThrow(NoSuchModelError);
    expect(() => createIngle({ baseURL: "nowhere" })).toThrow(TypeError);
  });
});

it("shows reasoning apart from the text", async () => {
  // Every reply of this template begins with thoughts.
  const template = await chatTemplate("Qwen-QwQ-32B");
  await using server = await realServer({
    fixture: { vocabulary: "qwen2", chatTemplate: template },
    load: { contextLength: 1024, parallel: 1 },
  });
  const model = createIngle({ baseURL: server.baseUrl })(modelId);
  const { reasoningText, text } = await generateText({ ...common, model, maxOutputTokens: 10 });
  expect([reasoningText?.length, text]).toEqual([expect.any(Number), ""]);
});

it("sends images as bytes", async () => {
  await using server = await realServer({ vision: "lfm2", load: { contextLength: 1024, parallel: 1 } });
  const image = await encodePng(drawImage("disc", 96, 64));
  const { text } = await generateText({
    model: createIngle({ baseURL: server.baseUrl })(modelId),
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image", image },
        ],
      },
    ],
    maxOutputTokens: 5,
    maxRetries: 0,
  });
  expect(text).not.toBe("");
});

it("makes vectors", async () => {
  await using server = await realServer({ fixture: { architecture: "bert" } });
  const { embeddings } = await embedMany({
    model: createIngle({ baseURL: server.baseUrl }).embeddingModel(modelId),
    values: ["The harbour is quiet.", "The harbour is quiet.", "Copper and rain"],
    maxRetries: 0,
  });
  const [first = [], same = [], other = []] = embeddings;
  expect(cosineSimilarity(first, same)).toBeCloseTo(1, 5);
  expect(cosineSimilarity(first, other)).toBeLessThan(0.999);
});

describe("reranking", () => {
  const documents = ["The harbour is quiet.", "Copper and rain", "A bear that lives in China."];
  let server: RealServer;
  beforeAll(async () => {
    server = await realServer({ fixture: { architecture: "bert", pooling: "rank" } });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const model = (id = modelId) => createIngle({ baseURL: server.baseUrl }).rerankingModel(id);
  const asked = { query: "What is a panda?", maxRetries: 0 };

  it("orders documents by their scores, all or the best", async () => {
    const { ranking, rerankedDocuments } = await rerank({ ...asked, model: model(), documents });
    expect(new Set(ranking.map(({ originalIndex }) => originalIndex))).toEqual(new Set([0, 1, 2]));
    const scores = ranking.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((one, other) => other - one));
    const best = await rerank({ ...asked, model: model(), documents, topN: 1 });
    expect(best.rerankedDocuments).toEqual(rerankedDocuments.slice(0, 1));
  });

  it("reads documents that are objects as JSON", async () => {
    const objects = documents.map((text) => ({ text }));
    const { ranking } = await rerank({ ...asked, model: model(), documents: objects });
    const texts = objects.map((each) => JSON.stringify(each));
    const same = await rerank({ ...asked, model: model(), documents: texts });
    expect(ranking.map(({ score }) => score)).toEqual(same.ranking.map(({ score }) => score));
  });

  it("reports errors with their status, and is cancelled", async () => {
    const unknown = rerank({ ...asked, model: model("nobody"), documents });
    await expect(unknown).rejects.toMatchObject({
      statusCode: 404,
      message: expect.stringContaining("nobody"),
    });
    const abortSignal = AbortSignal.abort();
    await expect(rerank({ ...asked, model: model(), documents, abortSignal })).rejects.toThrow("abort");
  });
});
