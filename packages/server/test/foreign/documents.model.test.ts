// A PDF sent by foreign clients is to a real model what its text would be: the same reply, from as many prompt tokens.
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { pdfFile } from "@ingle/fixtures";
import { generateText } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { modelId, realServer, type RealServer } from "../real-server.ts";

const file = pdfFile({ Helvetica: "Sales rose by 4 percent." });
const data = file.toString("base64");
const fileUrl = `data:application/pdf;base64,${data}`;
const filename = "q3.pdf";
const question = "What happened?";
const tokens = 12;

/** The newest types of Anthropic's client do not know what its older models took. */
const greedy = { temperature: 0 };

interface Reply {
  text: string;
  promptTokens: number;
}

let server: RealServer;
let openai: OpenAI;
let expected: Reply;
beforeAll(async () => {
  server = await realServer({ load: { contextLength: 1024, parallel: 2 } });
  openai = new OpenAI({ baseURL: server.baseUrl, apiKey: "anything", maxRetries: 0 });
  expected = await chat([{ type: "text", text: `${filename}\nSales rose by 4 percent.` }]);
});
afterAll(() => server[Symbol.asyncDispose]());

async function chat(parts: OpenAI.ChatCompletionContentPart[]): Promise<Reply> {
  const { choices, usage } = await openai.chat.completions.create({
    model: modelId,
    messages: [{ role: "user", content: [...parts, { type: "text", text: question }] }],
    temperature: 0,
    max_tokens: tokens,
  });
  return { text: choices[0]?.message.content ?? "", promptTokens: usage?.prompt_tokens ?? 0 };
}

it("in a file part of the openai package", async () => {
  expect(expected.text).not.toBe("");
  expect(await chat([{ type: "file", file: { filename, file_data: fileUrl } }])).toEqual(expected);
});

it("in an input_file of the openai package's responses", async () => {
  const { output_text: text, usage } = await openai.responses.create({
    model: modelId,
    input: [
      {
        role: "user",
        content: [
          { type: "input_file", filename, file_data: fileUrl },
          { type: "input_text", text: question },
        ],
      },
    ],
    temperature: 0,
    max_output_tokens: tokens,
  });
  expect({ text, promptTokens: usage?.input_tokens }).toEqual(expected);
});

it("in a document block of Anthropic's package", async () => {
  const anthropic = new Anthropic({ baseURL: server.baseUrl.replace(/\/v1$/, ""), apiKey: "anything" });
  const { content, usage } = await anthropic.messages.create({
    model: modelId,
    messages: [
      {
        role: "user",
        content: [
          {
            type: "document",
            title: filename,
            source: { type: "base64", media_type: "application/pdf", data },
          },
          { type: "text", text: question },
        ],
      },
    ],
    max_tokens: tokens,
    ...greedy,
  });
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  expect({ text, promptTokens: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) }).toEqual(expected);
});

it.each(["chat", "responses"] as const)("in a file part of the Vercel AI SDK, over %s", async (api) => {
  const provider = createOpenAI({ baseURL: server.baseUrl, apiKey: "anything" });
  const { text, usage } = await generateText({
    model: provider[api](modelId),
    messages: [
      {
        role: "user",
        content: [
          { type: "file", data: file, mediaType: "application/pdf", filename },
          { type: "text", text: question },
        ],
      },
    ],
    temperature: 0,
    maxOutputTokens: tokens,
    maxRetries: 0,
  });
  expect({ text, promptTokens: usage.inputTokens }).toEqual(expected);
});
