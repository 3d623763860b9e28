// The openai package's older and smaller endpoints with a real server: legacy completions and embeddings, and embeddings through
// packages that build on it. Chat, tools, structured output and responses have their own tests.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { OpenAIEmbeddings } from "@langchain/openai";
import { cosineSimilarity, embedMany } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelId, realServer, type RealServer } from "../real-server.ts";
import { foreignServer, question } from "./desk.ts";

function makeClient(server: RealServer): OpenAI {
  return new OpenAI({ baseURL: server.baseUrl, apiKey: "anything", maxRetries: 0 });
}

describe("legacy completions with the openai package", () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await foreignServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const request = { model: modelId, prompt: [question, "Hello"], temperature: 0, max_tokens: 8 };

  it("are whole, one choice for each prompt", async () => {
    const completion = await makeClient(server).completions.create(request);
    expect(completion.choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, "length"],
      [1, "length"],
    ]);
    expect(completion.usage?.completion_tokens).toBe(16);
  });

  it("are streamed with the same texts", async () => {
    const openai = makeClient(server);
    const whole = await openai.completions.create(request);
    const texts = ["", ""];
    for await (const chunk of await openai.completions.create({ ...request, stream: true })) {
      for (const { index, text } of chunk.choices) texts[index] += text;
    }
    expect(texts).toEqual(whole.choices.map(({ text }) => text));
  });
});

describe("chat completions with the openai package", () => {
  it("draft from a prediction, and count what was accepted", async () => {
    await using server = await foreignServer();
    const openai = makeClient(server);
    const request = {
      model: modelId,
      messages: [{ role: "user" as const, content: question }],
      temperature: 0,
      max_tokens: 150,
    };
    const { choices, usage } = await openai.chat.completions.create(request);
    expect(usage?.completion_tokens_details).not.toHaveProperty("accepted_prediction_tokens");
    const content = choices[0]?.message.content ?? "";
    let accepted = 0;
    // Drafting starts once it seems to pay, which a busy machine finds out late.
    for (let round = 0; round < 40 && accepted === 0; round += 1) {
      const prediction = { type: "content" as const, content: [{ type: "text" as const, text: content }] };
      const predicted = await openai.chat.completions.create({ ...request, prediction });
      expect(predicted.choices[0]?.message.content).toBe(content);
      accepted = predicted.usage?.completion_tokens_details?.accepted_prediction_tokens ?? 0;
    }
    expect(accepted).toBeGreaterThan(0);
  });
});

describe("embeddings", () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await realServer({ fixture: { architecture: "bert" } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const texts = ["The harbour is quiet.", "The harbour is quiet.", "Copper and rain"];

  it("with the openai package are the same in both encodings, and of length 1", async () => {
    const openai = makeClient(server);
    // The package requests base64 by itself and decodes it.
    const decoded = await openai.embeddings.create({ model: modelId, input: texts });
    const plain = await openai.embeddings.create({ model: modelId, input: texts, encoding_format: "float" });
    expect(decoded.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    for (const [index, { embedding }] of decoded.data.entries()) {
      const other = plain.data[index]?.embedding ?? [];
      expect(embedding).toHaveLength(other.length);
      expect(cosineSimilarity(embedding, other)).toBeCloseTo(1, 5);
      expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
    }
    expect(decoded.usage.total_tokens).toBeGreaterThan(10);
    await expect(openai.embeddings.create({ model: modelId, input: "" })).rejects.toBeInstanceOf(
      OpenAI.BadRequestError,
    );
  });

  it("with the Vercel AI SDK distinguish equal texts from different ones", async () => {
    const provider = createOpenAICompatible({ name: "ingle", baseURL: server.baseUrl });
    const { embeddings } = await embedMany({
      model: provider.textEmbeddingModel(modelId),
      values: texts,
      maxRetries: 0,
    });
    const [first = [], same = [], other = []] = embeddings;
    expect(cosineSimilarity(first, same)).toBeCloseTo(1, 5);
    expect(cosineSimilarity(first, other)).toBeLessThan(0.99);
  });

  it("with LangChain embed queries and documents", async () => {
    const embeddings = new OpenAIEmbeddings({
      model: modelId,
      apiKey: "anything",
      maxRetries: 0,
      configuration: { baseURL: server.baseUrl },
    });
    const [document = []] = await embeddings.embedDocuments(texts);
    const query = await embeddings.embedQuery(texts[0] ?? "");
    expect(cosineSimilarity(document, query)).toBeCloseTo(1, 5);
  });
});
