// Images through the openai package and the Vercel AI SDK with a real server, whose tiny model's replies depend on what it sees.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { drawImage, encodePng } from "@ingle/fixtures";
import { generateText, streamText, type LanguageModel, type ModelMessage } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelId, realServer, type RealServer } from "../real-server.ts";

const question = "What is this?";
/** The tokens of a small image: the minimum of LFM2-VL. */
const imageTokensMin = 64;

let server: RealServer;
let disc: Uint8Array;
let checks: Uint8Array;
beforeAll(async () => {
  server = await realServer({ vision: "lfm2", load: { contextLength: 2048, parallel: 2 } });
  disc = await encodePng(drawImage("disc", 96, 64));
  checks = await encodePng(drawImage("checks", 96, 64));
});
afterAll(() => server[Symbol.asyncDispose]());

interface Received {
  text: string;
  promptTokens: number;
}

const makeClient = (): OpenAI => new OpenAI({ baseURL: server.baseUrl, apiKey: "anything", maxRetries: 0 });

/** The question after these images, in the openai package's format. */
function openaiRequest(images: readonly Uint8Array[]) {
  const parts = images.map((image) => ({
    type: "image_url" as const,
    image_url: { url: `data:image/png;base64,${Buffer.from(image).toString("base64")}` },
  }));
  const content = [...parts, { type: "text" as const, text: question }];
  return { model: modelId, messages: [{ role: "user" as const, content }], temperature: 0, max_tokens: 12 };
}

function vercelRequest(images: readonly Uint8Array[]) {
  const parts = images.map((image) => ({ type: "image" as const, image }));
  const content = [...parts, { type: "text" as const, text: question }];
  const messages: ModelMessage[] = [{ role: "user", content }];
  return { messages, temperature: 0, maxOutputTokens: 12, maxRetries: 0 };
}

/** Whole and streamed, as the Vercel AI SDK requests it through one of its providers. */
function vercel(model: () => LanguageModel): Record<"whole" | "streamed", typeof openaiWhole> {
  const whole: typeof openaiWhole = async (images) => {
    const { text, usage } = await generateText({ ...vercelRequest(images), model: model() });
    return { text, promptTokens: usage.inputTokens ?? 0 };
  };
  const streamed: typeof openaiWhole = async (images) => {
    const { textStream, usage } = streamText({ ...vercelRequest(images), model: model() });
    let text = "";
    for await (const piece of textStream) text += piece;
    return { text, promptTokens: (await usage).inputTokens ?? 0 };
  };
  return { whole, streamed };
}

async function openaiWhole(images: readonly Uint8Array[]): Promise<Received> {
  const { choices, usage } = await makeClient().chat.completions.create(openaiRequest(images));
  return { text: choices[0]?.message.content ?? "", promptTokens: usage?.prompt_tokens ?? 0 };
}

async function openaiStreamed(images: readonly Uint8Array[]): Promise<Received> {
  const response: Received = { text: "", promptTokens: 0 };
  const stream = await makeClient().chat.completions.create({
    ...openaiRequest(images),
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const { choices, usage } of stream) {
    response.text += choices[0]?.delta.content ?? "";
    response.promptTokens = usage?.prompt_tokens ?? response.promptTokens;
  }
  return response;
}

const openaiProvider = () => createOpenAI({ baseURL: server.baseUrl, apiKey: "anything" });

describe.each([
  { name: "the openai package", whole: openaiWhole, streamed: openaiStreamed },
  {
    name: "the Vercel AI SDK, openai-compatible",
    ...vercel(() =>
      createOpenAICompatible({ name: "ingle", baseURL: server.baseUrl, includeUsage: true }).chatModel(
        modelId,
      ),
    ),
  },
  { name: "the Vercel AI SDK, chat completions", ...vercel(() => openaiProvider().chat(modelId)) },
  { name: "the Vercel AI SDK, responses", ...vercel(() => openaiProvider().responses(modelId)) },
])("an image sent with $name", ({ whole, streamed }) => {
  it("changes the reply by its content, whole and streamed", async () => {
    const first = await whole([disc]);
    expect(first.text).not.toBe("");
    expect(await whole([disc])).toEqual(first);
    expect(await streamed([disc])).toEqual(first);
    const other = await whole([checks]);
    expect(other.text).not.toBe(first.text);
    expect(await streamed([checks])).toEqual(other);
  });

  it("counts in the prompt's tokens, each copy again", async () => {
    const { promptTokens: none } = await whole([]);
    const { promptTokens: one } = await whole([disc]);
    const { promptTokens: two, text } = await whole([disc, checks]);
    expect(one - none).toBeGreaterThanOrEqual(imageTokensMin);
    expect(two - one).toBe(one - none);
    expect(text).not.toBe((await whole([checks, disc])).text);
  });
});

describe("an image that cannot be read", () => {
  it("is a client error, reported as each client reports them", async () => {
    const words = Buffer.from("These are words.");
    await expect(openaiWhole([words])).rejects.toMatchObject({
      constructor: OpenAI.BadRequestError,
      param: expect.stringMatching(/^messages/),
    });
    const { whole } = vercel(() =>
      createOpenAICompatible({ name: "ingle", baseURL: server.baseUrl }).chatModel(modelId),
    );
    await expect(whole([words])).rejects.toMatchObject({ statusCode: 400 });
  });

  it("is refused for a model that reads only text", async () => {
    await using text = await realServer();
    const client = new OpenAI({ baseURL: text.baseUrl, apiKey: "anything", maxRetries: 0 });
    await expect(client.chat.completions.create(openaiRequest([disc]))).rejects.toMatchObject({
      constructor: OpenAI.BadRequestError,
      code: "image_not_supported",
    });
  });
});
