// Every chat template that comes with llama.cpp, each in a tiny model: calls that must be made are made, whatever the model
// would rather write. INGLE_ONE_TEMPLATE takes those whose name it matches.
import { readdir } from "node:fs/promises";
import path from "node:path";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { GenerationRequest } from "../generate/generation-request.ts";
import type { GenerationResult } from "../generate/generation-result.ts";
import { load, type LoadedModel } from "../load.ts";

const folder = path.join(import.meta.dirname, "../../../../vendor/llama.cpp/source/models/templates");
const templates = (await readdir(folder))
  .filter((name) => name.endsWith(".jinja") && new RegExp(process.env["INGLE_ONE_TEMPLATE"] ?? "").test(name))
  .map((name) => name.slice(0, -".jinja".length))
  .toSorted();

const weather = {
  name: "get_weather",
  description: "The weather of a city",
  parameters: {
    type: "object",
    properties: {
      city: { type: "string", enum: ["Rome", "Oslo"] },
      days: { type: "integer", minimum: 1, maximum: 7 },
      wind: { type: "boolean" },
    },
    required: ["city", "days"],
    additionalProperties: false,
  },
};
const WeatherArguments = z.strictObject({
  city: z.enum(["Rome", "Oslo"]),
  days: z.int().min(1).max(7),
  wind: z.boolean().optional(),
});
const NowArguments = z.strictObject({});
const tools = [weather, { name: "now", description: "The time" }];

async function loadTemplate(template: string): Promise<LoadedModel> {
  const chatTemplateFile = path.join(folder, `${template}.jinja`);
  const file = await tinyModel({ contextLength: 8192 });
  return load(file, { threads: 1, contextLength: 8192, parallel: 4, chatTemplateFile });
}

/** Their text of the error: after the optional system message, roles must alternate. */
const alternating = new Set([
  "Mistral-Small-3.2-24B-Instruct-2506",
  "google-gemma-2-2b-it",
  "mistralai-Ministral-3-14B-Reasoning-2512",
  "mistralai-Mistral-Nemo-Instruct-2407",
]);

describe.each(templates)("calls that must be made, with the template %s", (template) => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    loaded = await loadTemplate(template);
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  const ask = (more: Partial<GenerationRequest>): GenerationRequest =>
    ({
      messages: [{ role: "user", content: "What is the weather in Rome?" }],
      tools,
      thinking: false,
      maxTokens: 1_500,
      topK: 5,
      ...more,
    }) as GenerationRequest;

  it("are those of the tools, with arguments that their schemas take", async () => {
    const results = await Promise.all(
      [1, 2, 3, 4].map((seed) => loaded.model.generate(ask({ seed, toolChoice: "required" }))),
    );
    expect(results.map(findProblem)).toEqual(results.map(() => ""));
  });

  it("are asked for in prompts that have system messages of any place", async () => {
    const { model } = loaded;
    const [first, later] = [
      { role: "system", content: "Be brief." },
      { role: "system", content: "It is noon." },
    ];
    const question = { role: "user", content: "What is the weather in Rome?" };
    const reply = { role: "assistant", content: "Sunny." };
    for (const messages of [
      [first, question, later],
      [first, question, reply, later, question],
      [question, reply, question, later],
    ]) {
      const text = await model.tokenizer.decode(await model.promptTokens(ask({ messages })));
      const lost = messages.filter(({ role, content }) => role === "system" && !text.includes(content));
      expect(lost).toEqual([]);
    }
  });

  it("are asked for in prompts that have turns in any order, which are changed only where the template refuses them", async () => {
    const { model } = loaded;
    const said = (role: string, content: string) => ({ role, content });
    const first = said("user", "first9");
    const second = said("user", "second9");
    const third = said("user", "third9");
    const reply = said("assistant", "reply9");
    const called = [
      { role: "assistant", content: "", toolCalls: [{ id: "abcdefghi", name: "now", arguments: "{}" }] },
      { role: "tool", content: "result9", toolCallId: "abcdefghi", name: "now" },
    ];
    const { chatTemplate } = model.info;
    for (const [messages, refuses] of [
      [[first, second], chatTemplate.refusesUserAfterUser],
      [[first, reply, second, third], chatTemplate.refusesUserAfterUser],
      [[first, reply, said("assistant", "another9"), second], chatTemplate.refusesAssistantAfterAssistant],
      [[first, ...called, second, third], chatTemplate.refusesUserAfterResult],
      [[first, ...called, reply, second, third, reply], chatTemplate.refusesUserAfterResult],
    ] as const) {
      const prompt = await model.promptText({ messages: [...messages] });
      for (const { content } of messages) expect(prompt).toContain(content);
      const asGiven = model.tokenizer.applyChatTemplate([...messages]);
      if (refuses || alternating.has(template))
        await expect(asGiven).rejects.toMatchObject({ code: "template_failed" });
      else if (chatTemplate.writesToolCalls || messages.length < 5) expect(prompt).toBe(await asGiven);
    }
    expect(chatTemplate.refusesUserAfterUser).toBe(alternating.has(template));
  });

  it("are one call of the tool that is named", async () => {
    const results = await Promise.all(
      [1, 2, 3, 4].map((seed) => loaded.model.generate(ask({ seed, toolChoice: { name: "get_weather" } }))),
    );
    expect(results.map(findProblem)).toEqual(results.map(() => ""));
    expect(results.map(({ toolCalls }) => toolCalls.map(({ name }) => name))).toEqual(
      results.map(() => ["get_weather"]),
    );
  });
});

/** What is wrong with a reply that had to call; empty when nothing is. */
function findProblem({ toolCalls, finishReason, text }: GenerationResult): string {
  if (finishReason !== "tool_calls") return `ended with ${finishReason}: ${text.slice(0, 80)}`;
  for (const { id, name, arguments: json } of toolCalls) {
    if (!/^[A-Za-z0-9]{9}$/.test(id)) return `the id ${id}`;
    const values: unknown = JSON.parse(json);
    const { success } = (name === "now" ? NowArguments : WeatherArguments).safeParse(values);
    if (!success) return `${name}(${json})`;
  }
  return "";
}
