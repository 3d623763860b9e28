// Messages in Anthropic's format over HTTP with its own client, on tiny models with the templates of real ones.
import { readFile } from "node:fs/promises";
import path from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { AnthropicMessage } from "@ingle/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

const templates = path.join(import.meta.dirname, "../../../vendor/llama.cpp/source/models/templates");

const weather: Anthropic.Tool = {
  name: "get_weather",
  description: "The weather of a city",
  input_schema: { type: "object", properties: { city: { enum: ["Rome", "Oslo"] } }, required: ["city"] },
};

async function startServer(template: string | undefined): Promise<RealServer> {
  const chatTemplate =
    template === undefined ? undefined : await readFile(path.join(templates, `${template}.jinja`), "utf8");
  const fixture = { vocabulary: "qwen2", ...(chatTemplate === undefined ? {} : { chatTemplate }) } as const;
  return realServer({ fixture, load: { contextLength: 2048, parallel: 2 } });
}

function makeClient({ baseUrl }: RealServer): Anthropic {
  return new Anthropic({ baseURL: baseUrl.replace(/\/v1$/, ""), apiKey: "anything", maxRetries: 0 });
}

/** The client passes fields through that its types do not have. */
const sampling = { temperature: 0.5, seed: 1 };
/** Long enough to be kept in the cache. */
const system = "You know the weather of every city, and tell it in few words. ".repeat(5);
const prompt = { model: modelId, system, messages: user("What is the weather in Rome?") };
const request = { ...prompt, max_tokens: 30, ...sampling };

describe("messages on a real engine", () => {
  let server: RealServer;
  let anthropic: Anthropic;
  beforeAll(async () => {
    server = await startServer(undefined);
    anthropic = makeClient(server);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const readText = ({ content }: Anthropic.Message): string =>
    content.map((block) => (block.type === "text" ? block.text : "")).join("");

  it("are the same streamed as in one piece, and report that max_tokens cut them", async () => {
    const whole = await anthropic.messages.create(request);
    const streamed = await anthropic.messages.stream(request).finalMessage();
    expect(AnthropicMessage.parse(streamed).content).toEqual(AnthropicMessage.parse(whole).content);
    expect([whole.stop_reason, whole.usage.output_tokens]).toEqual(["max_tokens", 30]);
  });

  it("report the stop sequence, and the cached tokens", async () => {
    const text = readText(await anthropic.messages.create(request));
    const stop = text.slice(10, 16);
    const message = await anthropic.messages.create({ ...request, stop_sequences: ["never in it ☃", stop] });
    expect(message).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: stop });
    expect(readText(message)).toBe(text.slice(0, text.indexOf(stop)));
    const { input_tokens, cache_read_input_tokens } = message.usage;
    expect(cache_read_input_tokens).toBeGreaterThan(0);
    const counted = await anthropic.messages.countTokens(prompt);
    expect(input_tokens + (cache_read_input_tokens ?? 0)).toBe(counted.input_tokens);
  });

  it("report the prompt's tokens, computed and cached ones, in their first event as in the last but one", async () => {
    const asked = { ...request, messages: user("Something that nobody has asked before.") };
    await anthropic.messages.create(asked);
    const usages: (number | null)[][] = [];
    for await (const event of await anthropic.messages.create({ ...asked, stream: true })) {
      if (event.type === "message_start")
        usages.push([event.message.usage.input_tokens, event.message.usage.cache_read_input_tokens]);
      if (event.type === "message_delta")
        usages.push([event.usage.input_tokens, event.usage.cache_read_input_tokens]);
    }
    const { input_tokens: all } = await anthropic.messages.countTokens({
      ...prompt,
      messages: asked.messages,
    });
    const [, [computed = 0, cached = 0] = []] = usages;
    expect(usages[0]).toEqual([computed, cached]);
    expect((computed ?? 0) + (cached ?? 0)).toBe(all);
    expect(cached).toBeGreaterThan(0);
  });

  it("continue a last turn of the assistant without an end marker", async () => {
    const begun = "It will be sunny";
    const messages = [...prompt.messages, { role: "assistant" as const, content: begun }];
    const { usage, stop_reason } = await anthropic.messages.create({ ...request, messages });
    expect(stop_reason).toBe("max_tokens");
    const { input_tokens: fresh } = await anthropic.messages.countTokens(prompt);
    const added = await server.model.tokenizer.encode(begun, { addSpecial: false });
    expect(usage.input_tokens + (usage.cache_read_input_tokens ?? 0)).toBe(fresh + added.length);
  });

  it("match a schema, or report that max_tokens cut them", async () => {
    const schema = {
      type: "object",
      properties: { a: { enum: ["x", "y"] } },
      required: ["a"],
      additionalProperties: false,
    };
    const message = await anthropic.messages.create({
      ...request,
      max_tokens: 300,
      output_config: { format: { type: "json_schema", schema } },
    });
    expect(message.stop_reason).toBe("end_turn");
    expect(["x", "y"]).toContain(JSON.parse(readText(message)).a);
  });

  it("longer than the context are refused with their length", async () => {
    const long = { ...request, messages: user("word ".repeat(3000)) };
    await expect(anthropic.messages.create(long)).rejects.toMatchObject({
      constructor: Anthropic.BadRequestError,
      error: { error: { code: "context_length_exceeded", n_ctx: 2048 } },
    });
    const { input_tokens } = await anthropic.messages.countTokens({ ...prompt, messages: long.messages });
    expect(input_tokens).toBeGreaterThan(2048);
  });
});

describe.each([undefined, "LFM2-8B-A1B", "Qwen-Qwen3-0.6B"])("tools with the template of %s", (template) => {
  let server: RealServer;
  let anthropic: Anthropic;
  beforeAll(async () => {
    server = await startServer(template);
    anthropic = makeClient(server);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const asked = {
    ...request,
    max_tokens: 400,
    tools: [weather],
    tool_choice: { type: "tool" as const, name: "get_weather", disable_parallel_tool_use: true },
  };

  it("are called, the same streamed as in one piece, and their results are accepted", async () => {
    const message = await anthropic.messages.create(asked);
    expect(message.stop_reason).toBe("tool_use");
    const [block] = AnthropicMessage.parse(message).content;
    if (block?.type !== "tool_use") throw new Error("no call");
    expect(block.name).toBe("get_weather");
    expect(["Rome", "Oslo"]).toContain(block.input["city"]);

    const streamed = await anthropic.messages.stream(asked).finalMessage();
    expect(AnthropicMessage.parse(streamed).content).toMatchObject([
      { type: "tool_use", name: "get_weather", input: block.input },
    ]);

    const result = { type: "tool_result" as const, tool_use_id: block.id, content: "Sunny." };
    const response = await anthropic.messages.create({
      ...asked,
      tool_choice: { type: "auto" },
      max_tokens: 5,
      messages: [
        ...asked.messages,
        { role: "assistant", content: message.content },
        { role: "user", content: [result] },
      ],
    });
    expect(response.stop_reason).toBe("max_tokens");
  });

  it("cut by max_tokens are not returned as calls", async () => {
    const { content, stop_reason } = await anthropic.messages.create({ ...asked, max_tokens: 4 });
    expect(stop_reason).toBe("max_tokens");
    expect(content.filter(({ type }) => type === "tool_use")).toEqual([]);
  });

  it("are counted with the prompt", async () => {
    const { messages } = anthropic;
    const without = await messages.countTokens(prompt);
    const tools = await messages.countTokens({ ...prompt, tools: [weather] });
    expect(tools.input_tokens).toBeGreaterThan(without.input_tokens);
  });
});
