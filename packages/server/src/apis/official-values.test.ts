// Every value that the types of the official clients allow is followed, ignored by name, or refused by name. The tables are typed by
// those clients: a version with another value does not compile until the value has its row.
import type Anthropic from "@anthropic-ai/sdk";
import type { FastifyInstance } from "fastify";
import type OpenAI from "openai";
import type { Options } from "ollama";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ignoredHeader } from "../plugins/bodies.ts";
import { scriptedApp, scriptedId, type ScriptedApp } from "../../test/harness/scripted-server.ts";

type Fate = "followed" | "ignored" | "refused";
type Chat = OpenAI.ChatCompletionCreateParamsNonStreaming;
type Response = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type Message = Anthropic.Messages.MessageCreateParamsNonStreaming;
type BetaMessage = Anthropic.Beta.Messages.MessageCreateParamsNonStreaming;
type Texts<Type> = Extract<Type, string>;
type TypesOf<Type> = Type extends { type?: infer Name } ? Texts<Name> : never;
type PartsOf<Content> = TypesOf<Extract<Content, readonly unknown[]>[number]>;

interface Table {
  name: string;
  url: string;
  body: (value: string) => object;
  rows: Readonly<Record<string, Fate>>;
}

function table<Value extends string>(
  name: string,
  url: string,
  body: (value: string) => object,
  rows: Readonly<Record<Value, Fate>>,
): Table {
  return { name, url, body, rows };
}

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const hello = { role: "user", content: "Hi" };
const turns = [hello];
const parameters = { type: "object", properties: {} };

const chat = (body: (value: string) => object) =>
  ["/v1/chat/completions", (value: string) => ({ messages: turns, ...body(value) })] as const;
const response = (body: (value: string) => object) =>
  ["/v1/responses", (value: string) => ({ input: "Hi", ...body(value) })] as const;
const message = (body: (value: string) => object) =>
  ["/v1/messages", (value: string) => ({ messages: turns, max_tokens: 5, ...body(value) })] as const;

const chatTool = { type: "function", function: { name: "f", parameters } };
const tool = { type: "function", name: "f", parameters };
const inputItem: Record<string, object> = {
  message: hello,
  function_call: { call_id: "c", name: "f", arguments: "{}" },
  function_call_output: { call_id: "c", output: "" },
  custom_tool_call: { call_id: "c", name: "f", input: "" },
  custom_tool_call_output: { call_id: "c", output: "" },
  reasoning: { id: "r", summary: [] },
  item_reference: { id: "m" },
};
const block: Record<string, object> = {
  text: { text: "Hi" },
  thinking: { thinking: "Hm.", signature: "" },
  redacted_thinking: { data: "x" },
  tool_use: { id: "t", name: "f", input: {} },
  tool_result: { tool_use_id: "t" },
  search_result: { title: "T", source: "S", content: [{ type: "text", text: "Hi" }] },
  document: { source: { type: "text", media_type: "text/plain", data: "Hi" } },
  tool_reference: { tool_name: "f" },
  browser_state: { tabs: [] },
};
const makeBlock = (type: string) => ({ type, ...block[type] });

const tables: Table[] = [
  table<NonNullable<Texts<Chat["reasoning_effort"]>>>(
    "reasoning_effort",
    ...chat((reasoning_effort) => ({ reasoning_effort })),
    {
      none: "followed",
      minimal: "followed",
      low: "followed",
      medium: "followed",
      high: "followed",
      xhigh: "followed",
      max: "followed",
    },
  ),
  table<NonNullable<Texts<Chat["service_tier"]>>>(
    "service_tier",
    ...chat((service_tier) => ({ service_tier })),
    {
      auto: "followed",
      default: "followed",
      flex: "ignored",
      scale: "ignored",
      priority: "ignored",
    },
  ),
  table<NonNullable<Texts<Chat["verbosity"]>>>("verbosity", ...chat((verbosity) => ({ verbosity })), {
    low: "ignored",
    medium: "followed",
    high: "ignored",
  }),
  table<NonNullable<Chat["modalities"]>[number]>("modalities", ...chat((each) => ({ modalities: [each] })), {
    text: "followed",
    audio: "refused",
  }),
  table<OpenAI.ChatCompletionMessageParam["role"]>(
    "roles",
    ...chat((role) => ({ messages: [{ role, content: "Hi", name: "f", tool_call_id: "c" }, hello] })),
    {
      system: "followed",
      developer: "followed",
      user: "followed",
      assistant: "followed",
      tool: "followed",
      function: "followed",
    },
  ),
  table<TypesOf<NonNullable<Chat["response_format"]>>>(
    "response_format",
    ...chat((type) => ({ response_format: { type, json_schema: { name: "s", schema: parameters } } })),
    { text: "followed", json_object: "followed", json_schema: "followed" },
  ),
  table<TypesOf<OpenAI.ChatCompletionTool>>(
    "tools",
    ...chat((type) => ({ tools: [{ ...chatTool, custom: { name: "f" }, type }] })),
    {
      function: "followed",
      custom: "refused",
    },
  ),
  table<Texts<Chat["tool_choice"]> | TypesOf<Chat["tool_choice"]>>(
    "tool_choice",
    ...chat((type) => ({
      tools: [chatTool],
      tool_choice: ["none", "auto", "required"].includes(type)
        ? type
        : {
            type,
            function: { name: "f" },
            custom: { name: "f" },
            allowed_tools: { mode: "auto", tools: [chatTool] },
          },
    })),
    {
      none: "followed",
      auto: "followed",
      required: "followed",
      function: "followed",
      allowed_tools: "followed",
      custom: "refused",
    },
  ),
  table<NonNullable<Texts<NonNullable<Response["reasoning"]>["effort"]>>>(
    "reasoning.effort",
    ...response((effort) => ({ reasoning: { effort } })),
    {
      none: "followed",
      minimal: "followed",
      low: "followed",
      medium: "followed",
      high: "followed",
      xhigh: "followed",
      max: "followed",
    },
  ),
  table<NonNullable<Texts<NonNullable<Response["reasoning"]>["summary"]>>>(
    "reasoning.summary",
    ...response((summary) => ({ reasoning: { summary } })),
    { auto: "followed", concise: "followed", detailed: "followed" },
  ),
  table<NonNullable<Texts<NonNullable<Response["reasoning"]>["context"]>>>(
    "reasoning.context",
    ...response((context) => ({ reasoning: { context } })),
    { auto: "followed", current_turn: "ignored", all_turns: "ignored" },
  ),
  table<"standard" | "pro">("reasoning.mode", ...response((mode) => ({ reasoning: { mode } })), {
    standard: "followed",
    pro: "ignored",
  }),
  table<NonNullable<Response["include"]>[number]>("include", ...response((each) => ({ include: [each] })), {
    "message.output_text.logprobs": "followed",
    "file_search_call.results": "ignored",
    "web_search_call.results": "ignored",
    "web_search_call.action.sources": "ignored",
    "message.input_image.image_url": "ignored",
    "computer_call_output.output.image_url": "ignored",
    "code_interpreter_call.outputs": "ignored",
    "reasoning.encrypted_content": "ignored",
  }),
  table<NonNullable<Texts<Response["truncation"]>>>(
    "truncation",
    ...response((truncation) => ({ truncation })),
    {
      auto: "ignored",
      disabled: "followed",
    },
  ),
  table<TypesOf<OpenAI.Responses.ResponseInputItem>>(
    "input",
    ...response((type) => ({ input: [hello, { type, ...inputItem[type] }, hello] })),
    {
      message: "followed",
      function_call: "followed",
      function_call_output: "followed",
      custom_tool_call: "followed",
      custom_tool_call_output: "followed",
      reasoning: "followed",
      item_reference: "refused",
      compaction: "refused",
      compaction_trigger: "refused",
      file_search_call: "ignored",
      computer_call: "ignored",
      computer_call_output: "ignored",
      web_search_call: "ignored",
      tool_search_call: "ignored",
      tool_search_output: "ignored",
      additional_tools: "ignored",
      image_generation_call: "ignored",
      code_interpreter_call: "ignored",
      local_shell_call: "ignored",
      local_shell_call_output: "ignored",
      shell_call: "ignored",
      shell_call_output: "ignored",
      apply_patch_call: "ignored",
      apply_patch_call_output: "ignored",
      mcp_list_tools: "ignored",
      mcp_approval_request: "ignored",
      mcp_approval_response: "ignored",
      mcp_call: "ignored",
      program: "ignored",
      program_output: "ignored",
    },
  ),
  table<TypesOf<OpenAI.Responses.Tool>>(
    "tools",
    ...response((type) => ({ tools: [{ ...tool, type, tools: [tool] }] })),
    {
      function: "followed",
      custom: "followed",
      namespace: "followed",
      file_search: "ignored",
      computer: "ignored",
      computer_use_preview: "ignored",
      web_search: "ignored",
      web_search_2025_08_26: "ignored",
      mcp: "ignored",
      code_interpreter: "ignored",
      programmatic_tool_calling: "ignored",
      image_generation: "ignored",
      local_shell: "ignored",
      shell: "ignored",
      tool_search: "ignored",
      web_search_preview: "ignored",
      web_search_preview_2025_03_11: "ignored",
      apply_patch: "ignored",
    },
  ),
  table<TypesOf<NonNullable<BetaMessage["thinking"]>>>(
    "thinking",
    ...message((type) => ({ thinking: { type } })),
    { enabled: "followed", adaptive: "followed", disabled: "followed", between_tools: "followed" },
  ),
  table<NonNullable<Extract<NonNullable<BetaMessage["thinking"]>, { type: "adaptive" }>["display"]>>(
    "thinking.display",
    ...message((display) => ({ thinking: { type: "adaptive", display } })),
    { summarized: "followed", omitted: "followed", updates: "ignored" },
  ),
  table<NonNullable<NonNullable<Message["output_config"]>["effort"]>>(
    "output_config.effort",
    ...message((effort) => ({ output_config: { effort } })),
    { low: "followed", medium: "followed", high: "followed", xhigh: "followed", max: "followed" },
  ),
  table<NonNullable<Message["service_tier"]>>(
    "service_tier",
    ...message((service_tier) => ({ service_tier })),
    {
      auto: "followed",
      standard_only: "followed",
    },
  ),
  table<NonNullable<Message["speed"]>>("speed", ...message((speed) => ({ speed })), {
    standard: "followed",
    fast: "ignored",
  }),
  table<NonNullable<Message["tool_choice"]>["type"]>(
    "tool_choice",
    ...message((type) => ({
      tool_choice: { type, name: "f" },
      tools: [{ name: "f", input_schema: parameters }],
    })),
    { auto: "followed", any: "followed", tool: "followed", none: "followed" },
  ),
  table<PartsOf<Anthropic.Messages.ToolResultBlockParam["content"]>>(
    "blocks of a tool_result",
    ...message((type) => ({
      messages: [
        hello,
        { role: "assistant", content: [makeBlock("tool_use")] },
        {
          role: "user",
          content: [
            { ...makeBlock("tool_result"), content: [{ ...makeBlock(type), source: makeSource(type) }] },
          ],
        },
      ],
    })),
    {
      text: "followed",
      image: "ignored",
      document: "followed",
      search_result: "followed",
      tool_reference: "followed",
      browser_state: "ignored",
    },
  ),
  table<Exclude<PartsOf<Anthropic.Messages.MessageParam["content"]>, AssistantBlock>>(
    "blocks of a user",
    ...message((type) => ({
      messages: [{ role: "user", content: [{ ...makeBlock(type), source: makeSource(type) }] }],
    })),
    {
      text: "followed",
      image: "refused",
      document: "followed",
      search_result: "followed",
      tool_result: "followed",
      container_upload: "refused",
    },
  ),
  table<AssistantBlock | "text">(
    "blocks of an assistant",
    ...message((type) => ({ messages: [hello, { role: "assistant", content: [makeBlock(type)] }, hello] })),
    {
      text: "followed",
      thinking: "followed",
      redacted_thinking: "followed",
      tool_use: "followed",
      server_tool_use: "ignored",
      web_search_tool_result: "ignored",
      web_fetch_tool_result: "ignored",
      code_execution_tool_result: "ignored",
      bash_code_execution_tool_result: "ignored",
      text_editor_code_execution_tool_result: "ignored",
      tool_search_tool_result: "ignored",
    },
  ),
  table<keyof Options>(
    "options",
    "/api/chat",
    (name) => ({ messages: turns, stream: false, options: { [name]: optionValues[name] ?? 1 } }),
    {
      numa: "ignored",
      num_ctx: "followed",
      num_batch: "ignored",
      num_gpu: "ignored",
      main_gpu: "ignored",
      low_vram: "ignored",
      f16_kv: "ignored",
      logits_all: "ignored",
      vocab_only: "ignored",
      use_mmap: "ignored",
      use_mlock: "ignored",
      embedding_only: "ignored",
      num_thread: "ignored",
      num_keep: "ignored",
      seed: "followed",
      num_predict: "followed",
      top_k: "followed",
      top_p: "followed",
      min_p: "followed",
      tfs_z: "followed",
      typical_p: "followed",
      repeat_last_n: "followed",
      temperature: "followed",
      repeat_penalty: "followed",
      presence_penalty: "followed",
      frequency_penalty: "followed",
      mirostat: "followed",
      mirostat_tau: "followed",
      mirostat_eta: "followed",
      penalize_newline: "followed",
      stop: "followed",
    },
  ),
];

type AssistantBlock =
  | "thinking"
  | "redacted_thinking"
  | "tool_use"
  | "server_tool_use"
  | "web_search_tool_result"
  | "web_fetch_tool_result"
  | "code_execution_tool_result"
  | "bash_code_execution_tool_result"
  | "text_editor_code_execution_tool_result"
  | "tool_search_tool_result";

const optionValues: Record<string, unknown> = { penalize_newline: true, stop: ["x"] };

/** The model reads no images: the error for one says so, and that it was understood. */
function makeSource(type: string): unknown {
  if (type === "image") return { type: "base64", media_type: "image/png", data: png };
  return Reflect.get(block[type] ?? {}, "source");
}

let scripted: ScriptedApp;
let app: FastifyInstance;
beforeAll(async () => {
  scripted = await scriptedApp({ flags: { ollamaApi: true } });
  ({ app } = scripted);
});
afterAll(() => scripted[Symbol.asyncDispose]());

async function send(url: string, body: object) {
  const sent = await app.inject({ method: "POST", url, payload: { model: scriptedId, ...body } });
  const ignored: unknown = sent.headers[ignoredHeader];
  return { status: sent.statusCode, ignored, body: sent.body };
}

describe.each(tables)("$name of $url", ({ name, url, body, rows }) => {
  it.each(Object.entries(rows))("%s is %s", async (value, fate) => {
    const sent = await send(url, body(value));
    if (fate === "refused") {
      expect(sent.status).toBe(400);
      expect(sent.body).toMatch(new RegExp(`${value}|${name}|"param":"[^"]*\\b${name.split(" ").at(-1)}`));
      return;
    }
    expect([sent.status, sent.body]).toEqual([200, sent.body]);
    if (fate === "followed") expect(sent.ignored).toBeUndefined();
    else expect(sent.ignored).toMatch(new RegExp(`\\b(${name.split(" ")[0]}|${value}|messages)\\b`));
  });
});
