// Replies in the syntax of several real templates, written by hand: read whole, and piece by piece at every cut. And
// calls that a model with random weights is made to write in each of them.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { load, type LoadedModel } from "../load.ts";
import { loadNative, type NativeModel, type NativeReply } from "../native/addon.ts";
import { prepareForTemplate } from "../prompt/chat-preparation.ts";
import { weightsOnCpu } from "@ingle/fixtures/native-options";
import { checkGenerationRequest, type GenerationRequest } from "./generation-request.ts";
import { ReplyReader, type ReadReply, type ReplyDelta } from "./reply-reader.ts";

const folder = path.join(import.meta.dirname, "../../../../vendor/llama.cpp/source/models/templates");

const tools = [
  {
    name: "get_weather",
    description: "The weather of a city",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", enum: ["Rome", 'Os"lo', "größe"] },
        days: { type: "integer", minimum: 1, maximum: 7 },
        flags: {
          type: "object",
          properties: { wind: { type: "boolean" }, unit: { type: "null" } },
          required: ["wind", "unit"],
        },
      },
      required: ["city", "flags"],
    },
  },
  { name: "now", description: "The time" },
];

const rome = { name: "get_weather", arguments: { city: "Rome", flags: { wind: true, unit: null } } };
const now = { name: "now", arguments: {} };

interface Recorded {
  reply: string;
  content?: string;
  reasoning?: string;
  calls?: { name: string; arguments: unknown }[];
}

const recorded: Record<string, Recorded[]> = {
  "LFM2-8B-A1B": [
    { reply: "Rome is sunny.", content: "Rome is sunny." },
    {
      reply:
        '<|tool_call_start|>[get_weather(city="Rome", flags={"wind": true, "unit": null})]<|tool_call_end|>',
      calls: [rome],
    },
    {
      reply:
        "Let me look.<|tool_call_start|>[get_weather(city='Rome', flags={'wind': True, 'unit': None}), now()]<|tool_call_end|>",
      content: "Let me look.",
      calls: [rome, now],
    },
  ],
  "LFM2.5-8B-A1B": [
    {
      reply: "<think>Which city?</think>Rome is sunny.",
      reasoning: "Which city?",
      content: "Rome is sunny.",
    },
    {
      reply:
        '<think>The weather.</think><|tool_call_start|>[get_weather(city="Rome", flags={"wind": true, "unit": null})]<|tool_call_end|>',
      reasoning: "The weather.",
      calls: [rome],
    },
  ],
  "Qwen-Qwen3-0.6B": [
    {
      reply: "<think>\nWhich city?\n</think>\n\nRome is sunny.",
      reasoning: "Which city?",
      content: "Rome is sunny.",
    },
    {
      reply:
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome", "flags": {"wind": true, "unit": null}}}\n</tool_call>',
      calls: [rome],
    },
  ],
  "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": [
    {
      reply:
        'One moment. <tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome", "flags": {"wind": true, "unit": null}}}\n</tool_call>',
      content: "One moment.",
      calls: [rome],
    },
  ],
  "meta-llama-Llama-3.1-8B-Instruct": [
    { reply: "Rome is sunny.", content: "Rome is sunny." },
    {
      reply: '{"name": "get_weather", "parameters": {"city": "Rome", "flags": {"wind": true, "unit": null}}}',
      calls: [rome],
    },
  ],
  chatml: [
    { reply: "Rome is sunny.", content: "Rome is sunny." },
    { reply: "Use {braces} and {", content: "Use {braces} and {" },
    {
      reply:
        'Let me look.\n{"tool_calls": [{"name": "get_weather", "arguments": {"city": "Rome", "flags": {"wind": true, "unit": null}}}, {"name": "now", "arguments": {}}]}',
      content: "Let me look.",
      calls: [rome, now],
    },
  ],
};

const file = await tinyModel({ vocabulary: "qwen2" });

async function templateOption(template: string): Promise<{ chatTemplate?: string }> {
  if (template === "chatml") return {};
  return { chatTemplate: await readFile(path.join(folder, `${template}.jinja`), "utf8") };
}

async function loadTemplate(template: string): Promise<NativeModel> {
  const loading = await loadNative({ ...weightsOnCpu(file), ...(await templateOption(template)) }, () => {});
  return loading.model;
}

const messages = [{ role: "user", content: "What is the weather in Rome?" }];

describe.each(Object.entries(recorded))("replies in the syntax of %s", (template, replies) => {
  let native: NativeModel;
  let read: ReadReply;
  beforeAll(async () => {
    native = await loadTemplate(template);
    const request = checkGenerationRequest({ messages, tools });
    if (request.messages === undefined) throw new Error("no chat");
    const { chat, read: own } = prepareForTemplate(request, native.info.chatTemplate);
    const { parser } = await native.prepareChat(chat).prompt;
    if (own !== undefined) read = own;
    else if (parser !== null) read = (text, isPartial) => native.parseReply(parser, text, isPartial);
  });
  afterAll(() => native.dispose());

  const withObjects = (reply: Pick<NativeReply, "content" | "reasoning" | "calls"> | null): unknown =>
    reply && {
      content: reply.content.trim(),
      reasoning: reply.reasoning.trim(),
      calls: reply.calls.map((call) => ({
        name: call.name,
        arguments: JSON.parse(call.arguments === "" ? "{}" : call.arguments) as unknown,
      })),
    };

  it.each(replies)("reads $reply", async ({ reply, content = "", reasoning = "", calls = [] }) => {
    expect(withObjects(await read(reply, false))).toEqual({ content, reasoning, calls });
  });

  it.each(replies)(
    "gives the same in pieces: $reply",
    async ({ reply, content = "", reasoning = "", calls = [] }) => {
      const deltas: ReplyDelta[] = [];
      const reader = new ReplyReader({
        read,
        onDelta: (delta) => deltas.push(delta),
        newId: () => "id",
        now: () => 0,
      });
      for (const character of reply) {
        reader.push(character);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await reader.finish(false);
      const collected: NativeReply = { content: "", reasoning: "", calls: [] };
      for (const { text, reasoning: thought, toolCalls } of deltas) {
        collected.content += text;
        collected.reasoning += thought;
        for (const { index, id, name, arguments: fragment } of toolCalls) {
          collected.calls[index] ??= { id: id ?? "missing", name: name ?? "missing", arguments: "" };
          collected.calls[index].arguments += fragment;
        }
      }
      expect(withObjects(collected)).toEqual({ content, reasoning, calls });
      expect(collected.calls.every((call) => call.id !== "missing")).toBe(true);
    },
  );

  it("gives back the text where it only looks like a call", async () => {
    for (const reply of [
      "<tool_call>\nnot JSON",
      "<|tool_call_start|>[nobody(",
      '{"name": "nobody"',
      "[".repeat(20_000),
    ]) {
      const deltas: ReplyDelta[] = [];
      const reader = new ReplyReader({ read, onDelta: (delta) => deltas.push(delta), newId: () => "id" });
      reader.push(reply);
      await reader.finish(false);
      expect(deltas.flatMap((delta) => delta.toolCalls)).toEqual([]);
      expect(deltas.map((delta) => delta.text).join("")).toBe(reply);
    }
  });
});

describe.each([...Object.keys(recorded), "LFM2.5-Instruct", "Qwen-Qwen2.5-7B-Instruct", "Qwen3-Coder"])(
  "calls that must be made, with the template of %s",
  (template) => {
    let loaded: LoadedModel;
    beforeAll(async () => {
      loaded = await load(file, {
        threads: 1,
        contextLength: 2048,
        parallel: 2,
        ...(await templateOption(template)),
      });
    });
    afterAll(() => loaded[Symbol.asyncDispose]());

    const ask = (more: Partial<GenerationRequest>): GenerationRequest =>
      ({
        messages,
        tools,
        toolChoice: "required",
        parallelToolCalls: false,
        maxTokens: 600,
        topK: 5,
        ...more,
      }) as GenerationRequest;

    it("are calls of the tools, with arguments that are JSON objects", async () => {
      let whole = 0;
      for (let seed = 0; seed < 4; seed++) {
        const result = await loaded.model.generate(ask({ seed }));
        if (result.finishReason === "length") continue;
        whole += 1;
        expect(result.finishReason).toBe("tool_calls");
        expect(result.toolCalls).toHaveLength(1);
        expect(result.toolCalls[0]?.id).not.toBe("");
        expect(["get_weather", "now"]).toContain(result.toolCalls[0]?.name);
        expect(JSON.parse(result.toolCalls[0]?.arguments ?? "")).toBeTypeOf("object");
      }
      expect(whole).toBeGreaterThan(0);
    });

    it("are of the one that is named, and stream as fragments of it", async () => {
      const generation = loaded.model.generate(ask({ seed: 1, toolChoice: { name: "now" } }));
      const fragments = new Map<number, string>();
      for await (const { toolCalls = [] } of generation) {
        for (const { index, arguments: fragment } of toolCalls)
          fragments.set(index, (fragments.get(index) ?? "") + fragment);
      }
      const { toolCalls, finishReason } = await generation;
      if (finishReason !== "length") expect(toolCalls.map(({ name }) => name)).toEqual(["now"]);
      expect([...fragments.values()]).toEqual(toolCalls.map((call) => call.arguments));
    });

    it("are written into the next prompt with their results, without the word null", async () => {
      const calls = [{ id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' }];
      const asked = { role: "assistant", content: "", toolCalls: calls };
      const conversation = [...messages, asked, { role: "tool", content: "sunny", toolCallId: "call_1" }];
      const plain = [
        { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
      ];
      const request = checkGenerationRequest({ messages: conversation, tools: plain });
      if (request.messages === undefined) throw new Error("no chat");
      const native = await loadTemplate(template);
      const { prompt } = await native.applyChatTemplate(
        prepareForTemplate(request, native.info.chatTemplate).chat,
      );
      native.dispose();
      expect(prompt).toContain("sunny");
      expect(prompt).toContain("Rome");
      expect(prompt).not.toContain("null");
    });
  },
);
