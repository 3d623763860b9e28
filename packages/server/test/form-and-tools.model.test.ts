// A response format together with tools, on tiny models with the templates of real ones: whatever random weights write is a call
// that matches the tool's schema or a text that matches the format, the same streamed as in one piece. The native engine's own test
// checks in more detail what each template's grammar allows (form_or_calls_test.cpp).
import { AnthropicMessage } from "@ingle/protocol";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { chatTemplate, modelId, realServer, user, type RealServer } from "./real-server.ts";

const Arguments = z.strictObject({ city: z.enum(["Rome", "Oslo"]) });
const Answer = z.strictObject({ answer: z.string().max(6), isSure: z.boolean() });

const schemas = { call: Arguments, text: Answer };
const right = (kind: Kind) => ({ isCall: kind === "call", success: true });

const tool = {
  name: "get_weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string", enum: ["Rome", "Oslo"] } },
    required: ["city"],
  },
};

const schema = {
  type: "object",
  properties: { answer: { type: "string", maxLength: 6 }, isSure: { type: "boolean" } },
  required: ["answer", "isSure"],
  additionalProperties: false,
};

const request = {
  model: modelId,
  messages: user("What is the weather in Rome?"),
  tools: [{ type: "function" as const, function: tool }],
  parallel_tool_calls: false,
  response_format: {
    type: "json_schema" as const,
    json_schema: { name: "answer", strict: true, schema },
  },
  reasoning_effort: "none" as const,
  max_tokens: 600,
};

const kinds = ["call", "text"] as const;
type Kind = (typeof kinds)[number];
type Message = Pick<OpenAI.ChatCompletionMessage, "content" | "tool_calls">;

/** Whether a whole reply is a call or a text; throws if it is neither. */
function checkKind({ content, tool_calls: calls = [] }: Message, reason: string | null): Kind {
  const [call] = calls;
  if (call === undefined) {
    expect(reason).toBe("stop");
    Answer.parse(JSON.parse(content ?? ""));
    return "text";
  }
  if (call.type !== "function") throw new Error("no function");
  expect({ name: call.function.name, content: content ?? "", reason }).toEqual({
    name: "get_weather",
    content: "",
    reason: "tool_calls",
  });
  Arguments.parse(JSON.parse(call.function.arguments));
  return "call";
}

function listArguments({ tool_calls: calls = [] }: Message): string[] {
  return calls.map((call) => (call.type === "function" ? call.function.arguments : "no function"));
}

async function streamed(openai: OpenAI, body: typeof request): Promise<Message> {
  const stream = openai.chat.completions.stream({ ...body, stream: true });
  return (await stream.finalChatCompletion()).choices[0]!.message;
}

interface Asked {
  server: RealServer;
  openai: OpenAI;
  /** Biases without which random weights seldom choose the first words of either. */
  towards: Record<Kind, Record<string, number>>;
}

async function askable(template: string, callsBegin: string, textBegins: string): Promise<Asked> {
  const own = template === "chatml" ? {} : { chatTemplate: await chatTemplate(template) };
  const fixture = { vocabulary: "qwen2", contextLength: 8192 };
  const server = await realServer({ fixture, load: { contextLength: 8192, parallel: 4, ...own } });
  const biasTowards = async (text: string): Promise<Record<string, number>> => {
    const tokens = await server.model.tokenizer.encode(text, { addSpecial: false });
    return Object.fromEntries(Array.from(tokens, (token) => [token, 60]));
  };
  const openai = new OpenAI({ baseURL: server.baseUrl, apiKey: "anything", maxRetries: 0 });
  const towards = { call: await biasTowards(callsBegin), text: await biasTowards(textBegins) };
  return { server, openai, towards };
}

const json = '{"answer": "';
const told = '{"tool_calls": [{"name": "';

describe.each([
  // In the template's own tool syntax.
  ["LFM2-8B-A1B", "<|tool_call_start|>", json],
  ["Qwen-Qwen2.5-7B-Instruct", "<tool_call>", json],
  ["Qwen-Qwen3-0.6B", "<tool_call>", json],
  ["Qwen3-Coder", "<tool_call>", json],
  ["GLM-4.6", "<tool_call>", json],
  ["meta-llama-Llama-3.1-8B-Instruct", '{"name": "get_weather"', json],
  ["mistralai-Mistral-Nemo-Instruct-2407", '[TOOL_CALLS][{"name": "get_weather", "arguments"', json],
  ["NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "<tool_call>", json],
  ["ibm-granite-granite-4.0", "<tool_call>", json],
  ["CohereForAI-c4ai-command-r-plus-tool_use", "Action:", json],
  ["meetkai-functionary-medium-v3.1", "<function=", json],
  ["deepseek-ai-DeepSeek-V3.2", "<｜DSML｜function_calls>", `\`\`\`json${json}`],
  [
    "openai-gpt-oss-120b",
    " to=functions.get_weather<|channel|>commentary<|message|>",
    `<|channel|>final<|message|>${json}`,
  ],
  // In our syntax: these templates write no tools, or their syntax does not allow both.
  ["chatml", told, json],
  ["deepseek-ai-DeepSeek-V3.1", told, json],
  ["Kimi-K2-Instruct", told, json],
  ["google-gemma-4-31B-it", told, json],
  ["ibm-granite-granite-3.3-2B-Instruct", told, json],
  ["meetkai-functionary-medium-v3.2", told, json],
  ["openbmb-MiniCPM5-1B", told, json],
])("a form and tools with the template of %s", (template, callsBegin, textBegins) => {
  let asked: Asked;
  beforeAll(async () => {
    asked = await askable(template, callsBegin, textBegins);
  });
  afterAll(() => asked.server[Symbol.asyncDispose]());

  async function ask(more: object, seed: number): Promise<Kind> {
    const { openai } = asked;
    const body = { ...request, seed, ...more };
    const { message, finish_reason } = (await openai.chat.completions.create(body)).choices[0]!;
    const other = await streamed(openai, body);
    expect(other.content ?? "").toBe(message.content ?? "");
    expect(listArguments(other)).toEqual(listArguments(message));
    return checkKind(message, finish_reason);
  }

  it.each(kinds)("give a %s when the model chooses one", async (kind) => {
    const logit_bias = asked.towards[kind];
    expect(await Promise.all([1, 2].map((seed) => ask({ logit_bias }, seed)))).toEqual([kind, kind]);
  });

  it("give a text with tool_choice none and a call with required", async () => {
    const logit_bias = asked.towards.text;
    const choices = ["none", "required"].map((tool_choice) => ask({ tool_choice, logit_bias }, 1));
    expect(await Promise.all(choices)).toEqual(["text", "call"]);
  });
});

describe.each([
  ["Qwen-Qwen3-0.6B", "<tool_call>"],
  ["chatml", told],
])("a form and tools with the template of %s", (template, callsBegin) => {
  let asked: Asked;
  beforeAll(async () => {
    asked = await askable(template, callsBegin, json);
  });
  afterAll(() => asked.server[Symbol.asyncDispose]());

  it.each(kinds)("give a %s over responses", async (kind) => {
    const more = { seed: 1, logit_bias: asked.towards[kind] }; // fields of a chat, which the client's types do not have here
    const response = await asked.openai.responses.create({
      ...more,
      model: modelId,
      input: "What is the weather in Rome?",
      tools: [{ type: "function", strict: true, ...tool }],
      parallel_tool_calls: false,
      reasoning: { effort: "none" },
      text: { format: { type: "json_schema", name: "answer", strict: true, schema } },
      max_output_tokens: 600,
    });
    const call = response.output.find((item) => item.type === "function_call");
    const value: unknown = JSON.parse(call?.arguments ?? response.output_text);
    expect({ isCall: call !== undefined, ...schemas[kind].safeParse(value) }).toMatchObject(right(kind));
  });

  it.each(kinds)("give a %s over messages", async (kind) => {
    const body = {
      model: modelId,
      seed: 1,
      logit_bias: asked.towards[kind],
      max_tokens: 600,
      messages: request.messages,
      tools: [{ name: tool.name, input_schema: tool.parameters }],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      output_config: { format: { type: "json_schema", schema } },
    };
    const headers = { "content-type": "application/json" };
    const url = `${asked.server.baseUrl}/messages`;
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    const { content } = AnthropicMessage.parse(await answer.json());
    const block = content.find(({ type }) => type !== "thinking");
    const isCall = block?.type === "tool_use";
    const value: unknown = isCall ? block.input : JSON.parse(block?.type === "text" ? block.text : "");
    expect({ isCall, ...schemas[kind].safeParse(value) }).toMatchObject(right(kind));
  });
});
