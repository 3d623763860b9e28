// The first requests of agents, and fields that other servers accept: bodies of the same structure, written by hand, with a scripted
// model. Fields without effect are named in the response, and those that cannot be honoured are refused.
import { generationOptions } from "@ingle/generation-options";
import { AnthropicErrorBody, ChatCompletion, ErrorBody, ModelEntry } from "@ingle/protocol";
import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, it } from "vitest";
import { scriptedApp, scriptedId, scriptedServer, type ScriptedOptions } from "./harness/scripted-server.ts";

const user = { role: "user", content: "Hi" };
const f = { type: "function", function: { name: "f" } };

async function post(path: string, payload: object, options: ScriptedOptions = {}) {
  await using scripted = await scriptedApp({ script: { pieces: ["Hello"] }, ...options });
  const response = await scripted.app.inject({
    method: "POST",
    url: `/v1/${path}`,
    payload: { model: scriptedId, ...payload },
  });
  const ignored = response.headers["x-ingle-ignored"];
  return { status: response.statusCode, body: response.json(), ignored, log: scripted.log };
}

const listTexts = ({ chats }: Awaited<ReturnType<typeof post>>["log"]) =>
  chats.flatMap(({ messages }) => messages.map(({ content }) => content));

const chat = (payload: object, options?: ScriptedOptions) =>
  post("chat/completions", { messages: [user], ...payload }, options);

describe("Codex's first request", () => {
  const request = {
    instructions: "You are a coding agent.",
    input: [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "Sandbox: read-only." }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "List the files." }] },
    ],
    tools: [
      {
        type: "function",
        name: "exec_command",
        strict: false,
        parameters: { type: "object", properties: {} },
      },
      {
        type: "custom",
        name: "apply_patch",
        format: { type: "grammar", syntax: "lark", definition: "start: x" },
      },
      { type: "web_search", external_web_access: false },
      {
        type: "namespace",
        name: "mcp__files",
        description: "Files",
        tools: [{ type: "function", name: "read" }],
      },
    ],
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning: { effort: "medium", summary: "auto" },
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "0199",
    text: { verbosity: "low" },
    client_metadata: { installation: "1" },
  };

  it("is answered with its tools in the prompt, and names what was ignored", async () => {
    const { status, body, ignored, log } = await post("responses", request);
    expect(status).toBe(200);
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual([
      "exec_command",
      "apply_patch",
      "mcp__files",
    ]);
    const { tools = [] } = log.chats[0] ?? {};
    expect(tools.map(({ name }) => name)).toEqual(["exec_command", "apply_patch", "mcp__files__read"]);
    expect(tools[1]?.description).toBe("input must match this Lark grammar:\nstart: x");
    expect(ignored).toBe(
      "client_metadata, tools (web_search), text.verbosity, include (reasoning.encrypted_content)",
    );
  });

  it("names ignored fields in a stream's headers and in the log too", async () => {
    const lines: string[] = [];
    const stream = { write: (line: string) => lines.push(line) };
    await using scripted = await scriptedServer({
      script: { pieces: ["Hello"] },
      logger: { level: "info", stream },
    });
    const response = await fetch(`${scripted.server.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: scriptedId, ...request, stream: true }),
    });
    expect(response.headers.get("x-ingle-ignored")).toContain("tools (web_search)");
    await response.text();
    await expect.poll(() => lines.join("")).toContain('"ignored":["client_metadata","tools (web_search)"');
  });

  it("must not force an ignored tool", async () => {
    const { status, body } = await post("responses", { ...request, tool_choice: { type: "web_search" } });
    expect([status, ErrorBody.parse(body).error.param]).toEqual([400, "tool_choice.type"]);
  });

  it("cannot inject unusual characters into a header", async () => {
    const tools = [
      { type: "x\r\ny: z" },
      { type: "é" },
      ...Array.from({ length: 40 }, (_, i) => ({ type: `t${i}` })),
    ];
    const { status, ignored } = await post("responses", { input: "Hi", tools });
    expect(status).toBe(200);
    expect(String(ignored).split(", ")).toHaveLength(16);
    expect(ignored).toMatch(/^tools \(t0\), /);
  });
});

describe("Claude Code's first request", () => {
  const request = (cch: string) => ({
    max_tokens: 100,
    system: [
      { type: "text", text: `x-anthropic-billing-header: cc_version=2.1.0; cc_entrypoint=cli; cch=${cch};` },
      { type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } },
      { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
    ],
    messages: [
      { role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }] },
    ],
    tools: [{ name: "Bash", description: "Runs.", input_schema: { type: "object", properties: {} } }],
    metadata: { user_id: "user_1" },
    thinking: { type: "adaptive" },
    context_management: { edits: [] },
  });

  it("starts its prompt the same way each time, without the parts for another service's accounts", async () => {
    const [one, other] = [await post("messages", request("00001")), await post("messages", request("fffff"))];
    expect(one.status).toBe(200);
    expect(one.log.prompts).toEqual(other.log.prompts);
    expect(one.log.prompts[0]).toMatch(/^system: You are an agent\.\nBe brief\.\n/);
    expect(one.ignored).toBe("context_management, system (x-anthropic-billing-header)");
    const asText = { ...request("1"), system: "x-anthropic-billing-header: cch=1;\nYou are an agent." };
    expect((await post("messages", asText)).log.prompts[0]).toMatch(/^system: You are an agent\.\n/);
  });
});

describe("a message with server-side tools", () => {
  const request = {
    max_tokens: 5,
    messages: [user],
    tools: [
      { type: "web_search_20250305", name: "web_search", max_uses: 8 },
      { type: "custom", name: "Read", input_schema: { type: "object", properties: {} } },
      { type: "bash_20250124", name: "bash" },
      { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
      { name: "Bash", input_schema: { type: "object", properties: {} } },
    ],
  };

  it("gets the prompt without them, and names what was ignored", async () => {
    const { status, ignored, log } = await post("messages", request);
    expect([status, log.chats[0]?.tools.map(({ name }) => name)]).toEqual([200, ["Read", "Bash"]]);
    expect(ignored).toBe("tools (web_search_20250305), tools (bash_20250124), tools (text_editor_20250728)");
    const counted = await post("messages/count_tokens", request);
    expect([counted.status, counted.ignored]).toEqual([200, `max_tokens, ${String(ignored)}`]);
  });

  it("must not force one of them", async () => {
    const { status, body } = await post("messages", {
      ...request,
      tool_choice: { type: "tool", name: "bash" },
    });
    expect([status, body.error.param]).toEqual([400, "tool_choice"]);
  });
});

describe("a chat", () => {
  it.each<[string, object, string]>([
    ["functions", { functions: [{ name: "f" }] }, "functions"],
    ["an audio reply", { modalities: ["text", "audio"], audio: { voice: "a" } }, "audio"],
    ["two schemas", { json_schema: {}, response_format: { type: "json_object", schema: {} } }, "json_schema"],
  ])("refuses %s", async (_name, payload, param) => {
    const { status, body } = await chat(payload);
    expect([status, ErrorBody.parse(body).error.param]).toEqual([400, param]);
  });

  it("names ignored fields", async () => {
    const { ignored } = await chat({
      metadata: { a: "b" },
      service_tier: "flex",
      verbosity: "high",
      n_predict: 2,
    });
    expect(ignored).toBe("n_predict, service_tier, metadata, verbosity");
    expect(
      (await chat({ service_tier: "auto", store: false, modalities: ["text"] })).ignored,
    ).toBeUndefined();
  });

  it("names fields that nobody knows, unless they are null", async () => {
    const { status, ignored } = await chat({
      max_token: 5,
      guided_json: {},
      stop_token_ids: null,
      "a\r\nb": 1,
    });
    expect([status, ignored]).toEqual([200, "max_token, guided_json"]);
  });

  it("names unknown fields of a large body too", async () => {
    const messages = [{ role: "user", content: "Hi ".repeat(100_000) }];
    expect((await chat({ messages, max_token: 5 })).ignored).toBe("max_token");
  });

  it("accepts more stop strings than the convention, and an empty one that stops nothing", async () => {
    const { max: stopsMax } = generationOptions.stop;
    const stop = ["", ...Array.from({ length: stopsMax - 1 }, (_, index) => `END${index}`)];
    const { status, log } = await chat({ stop });
    expect([status, log.requests[0]?.stops.length]).toEqual([200, stopsMax - 1]);
    expect((await chat({ stop: "" })).log.requests[0]?.stops).toEqual([]);
  });

  it("is greedy with top_p 0", async () => {
    const { log } = await chat({ top_p: 0 });
    expect(log.requests[0]?.sampling).toMatchObject({ temperature: 0, topP: 1 });
  });

  it("accepts 64-bit seeds, each with its own reply", async () => {
    const seeds = async (seed: number) =>
      (await chat({ seed, n: 3 })).log.requests.map(({ sampling }) => sampling.seed);
    const one = await seeds(2 ** 63);
    expect(new Set(one).size).toBe(3);
    expect(await seeds(2 ** 63)).toEqual(one);
    expect(await seeds(2 ** 63 + 2048)).not.toEqual(one);
  });

  it("gets only the allowed tools in its prompt", async () => {
    const g = { type: "function", function: { name: "g" } };
    const tool_choice = { type: "allowed_tools", allowed_tools: { mode: "required", tools: [g] } };
    const { log } = await chat({ tools: [f, g], tool_choice });
    expect(log.chats[0]).toMatchObject({ tools: [{ name: "g" }], toolChoice: "required" });
  });

  it("accepts tools with colons and slashes in their names, and long descriptions", async () => {
    const name = "mcp:files/read";
    const { status, log } = await chat({
      tools: [{ type: "function", function: { name, description: "x".repeat(20_000) } }],
    });
    expect([status, log.chats[0]?.tools[0]?.name]).toEqual([200, name]);
  });

  it("accepts lists for the template, empty names, and refusals in earlier replies", async () => {
    const messages = [
      { ...user, name: "" },
      { role: "assistant", content: null, refusal: "No." },
      { ...user, name: "" },
      { role: "assistant", content: [{ type: "refusal", refusal: "Never." }] },
      user,
    ];
    const { status, log } = await chat({ messages, chat_template_kwargs: { tools_on: ["browser"] } });
    expect(status).toBe(200);
    expect(log.chats[0]?.messages.map(({ content }) => content)).toEqual(["Hi", "No.", "Hi", "Never.", "Hi"]);
    expect(log.chats[0]?.templateArguments).toEqual([{ name: "tools_on", value: '["browser"]' }]);
  });

  it("accepts calls and results of the older convention, and results without an id", async () => {
    const call = (id: string, name: string) => ({
      id,
      type: "function",
      function: { name, arguments: "{}" },
    });
    const messages = [
      user,
      { role: "assistant", content: null, function_call: { name: "f", arguments: '{"a":1}' } },
      { role: "function", name: "f", content: "1" },
      { role: "assistant", content: null, tool_calls: [call("a", "f"), call("b", "g")] },
      { role: "tool", name: "g", content: "2" },
      { role: "tool", content: "3" },
    ];
    const { status, log } = await chat({ messages });
    expect(status).toBe(200);
    const [, older, first, , second, third] = log.chats[0]?.messages ?? [];
    expect(older?.toolCalls).toEqual([{ id: first?.toolCallId, name: "f", arguments: '{"a":1}' }]);
    expect(first).toMatchObject({ role: "tool", name: "f", content: "1" });
    expect([second?.toolCallId, third?.toolCallId]).toEqual(["b", "a"]);
  });

  it("accepts its own reply that was cut inside a call's arguments", async () => {
    const cut = '{"city": "Ro';
    const tool_calls = [{ id: "a", type: "function", function: { name: "f", arguments: cut } }];
    const messages = [user, { role: "assistant", content: null, tool_calls }, user];
    const { status, log } = await chat({ messages });
    expect(status).toBe(200);
    expect(log.chats[0]?.messages[1]?.toolCalls[0]?.arguments).toBe(JSON.stringify({ arguments: cut }));
  });

  it("passes images in a tool's result to models that read them", async () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "high" } };
    const messages = [user, { role: "tool", tool_call_id: "a", content: [image] }];
    const { body, ignored } = await chat({ messages }, { script: { info: { readsImages: true } } });
    expect(ErrorBody.parse(body).error).toMatchObject({
      code: "image_invalid",
      param: "messages[1].content[0].image_url.url",
    });
    expect(ignored).toBe("image_url.detail");
  });

  it.each([
    [
      "responses",
      {
        input: [
          { role: "user", content: "Look." },
          { type: "function_call", call_id: "a", name: "see", arguments: "{}" },
          {
            type: "function_call_output",
            call_id: "a",
            output: [{ type: "input_image", image_url: "data:image/png;base64,AAAA" }],
          },
        ],
      },
      "input[2].output[0]",
    ],
    [
      "messages",
      {
        max_tokens: 9,
        messages: [
          user,
          { role: "assistant", content: [{ type: "tool_use", id: "a", name: "see", input: {} }] },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: "a",
                content: [
                  { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
                ],
              },
            ],
          },
        ],
      },
      "messages[2].content[0].content[0]",
    ],
    [
      "chat/completions",
      {
        messages: [
          user,
          {
            role: "tool",
            tool_call_id: "a",
            content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
          },
        ],
      },
      "messages[1].content[0]",
    ],
  ])(
    "tells models that read no images that a tool's result in %s has one, and names it in a header",
    async (path, payload, place) => {
      const { status, ignored, log } = await post(path, payload);
      expect([status, ignored]).toEqual([200, place]);
      expect(listTexts(log).at(-1)).toBe("[An image is left out here: this model reads only text.]");
    },
  );

  it("tells models that take no audio that a tool's result has one", async () => {
    const audio = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
    const messages = [
      user,
      { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "It says:" }, audio] },
    ];
    const { status, ignored, log } = await chat({ messages });
    expect([status, ignored]).toEqual([200, "messages[1].content[1]"]);
    expect(listTexts(log).at(-1)).toBe("It says:\n[An audio is left out here: this model takes no audio.]");
  });

  it("begins the refusal of an image that the user sent with the words that Claude Code looks for", async () => {
    const source = { type: "base64", media_type: "image/png", data: "AAAA" };
    const { status, body } = await post("messages", {
      max_tokens: 9,
      messages: [{ role: "user", content: [{ type: "image", source }] }],
    });
    expect(status).toBe(400);
    expect(AnthropicErrorBody.parse(body).error.message).toMatch(
      /^Could not process image: this model reads only text/,
    );
  });

  it("has an empty list of probabilities for an empty reply", async () => {
    const { body } = await chat({ logprobs: true }, { script: { pieces: [] } });
    expect(ChatCompletion.parse(body).choices[0]?.logprobs).toEqual({ content: [], refusal: null });
  });

  it("has no speed for a single token, and counts reasoning tokens", async () => {
    const { body } = await chat({}, { script: { pieces: ["a"] } });
    const { timings, usage } = ChatCompletion.parse(body);
    expect([timings.predicted_n, timings.predicted_per_second]).toEqual([1, 0]);
    expect(usage.completion_tokens_details).toEqual({ reasoning_tokens: 0 });
    const reply = (text: string) => ({ content: "", reasoning: text, calls: [] });
    const thinking = await chat({}, { script: { pieces: ["a", "b", "c"], reply } });
    expect(ChatCompletion.parse(thinking.body).usage.completion_tokens_details.reasoning_tokens).toBe(3);
  });

  it.each([
    ["desktop", 400],
    ["developer", 200],
    ["command-line", 200],
    ["serverless", 200],
  ] as const)("without a model gets this status from a %s server: %s", async (variant, status) => {
    const response = await chat({ model: undefined }, { flags: { variant, noAuth: true } });
    expect(response.status).toBe(status);
    if (status === 400) expect(ErrorBody.parse(response.body).error.param).toBe("model");
  });
});

describe("a message in Anthropic's shape", () => {
  const source = { type: "text", media_type: "text/plain", data: "It is blue." };

  it("may contain text documents, and references to tools in results", async () => {
    const messages = [
      {
        role: "user",
        content: [
          { type: "document", title: "Sky", source },
          { type: "text", text: "Colour?" },
        ],
      },
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "find", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "a",
            content: [
              { type: "tool_reference", tool_name: "paint" },
              { type: "document", source },
            ],
          },
        ],
      },
    ];
    const { status, log } = await post("messages", { max_tokens: 5, messages });
    expect(status).toBe(200);
    const contents = log.chats[0]?.messages.map(({ content }) => content);
    expect(contents).toEqual(["Sky\nIt is blue.\nColour?", "", "paint\nIt is blue."]);
  });

  describe("with a tool whose loading is deferred", () => {
    const input_schema = { type: "object", properties: { url: { type: "string" } } };
    const find = { name: "find", input_schema: { type: "object" } };
    const fetch = { name: "fetch", description: "Fetches", input_schema, defer_loading: true };
    const found = [
      user,
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "find", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "a",
            content: [{ type: "tool_reference", tool_name: "fetch" }],
          },
        ],
      },
    ];
    const ask = async (more: object) => {
      const { status, log, ignored } = await post("messages", {
        max_tokens: 5,
        tools: [find, fetch],
        ...more,
      });
      const tools = log.chats.map((each) => each.tools.map(({ name }) => name));
      return { status, tools, ignored, last: listTexts(log).at(-1) };
    };

    it("leaves it out until a result refers to it, and then defines it there, so that it may be called", async () => {
      expect(await ask({ messages: [user] })).toMatchObject({ status: 200, tools: [["find"]] });
      const { tools, last, ignored } = await ask({ messages: found });
      // The first is for what the reply may call, the second for the prompt.
      expect(tools).toEqual([["find", "fetch"], ["find"]]);
      const definition = { name: "fetch", description: "Fetches", parameters: input_schema };
      expect(JSON.parse(last ?? "")).toEqual(definition);
      expect(ignored).toBeUndefined();
    });

    it("lists it from the start if the request demands it, or if another service would search for it", async () => {
      const choice = { messages: [user], tool_choice: { type: "tool", name: "fetch" } };
      expect((await ask(choice)).tools).toEqual([["fetch"]]);
      const search = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" };
      const elsewhere = await ask({ messages: [user], tools: [find, fetch, search] });
      expect(elsewhere.tools).toEqual([["find", "fetch"]]);
    });
  });
});

describe("model lists", () => {
  it("find a model by its alias", async () => {
    await using scripted = await scriptedApp();
    await scripted.registry
      .load("other", async () => Promise.reject(new Error("never")), { alias: "mine" })
      .catch(() => {});
    scripted.registry.add({
      id: "named",
      aliases: ["my-model"],
      prepare: () => Promise.reject(new Error("never")),
    });
    const { statusCode, body } = await scripted.app.inject({ url: "/v1/models/my-model" });
    expect([statusCode, ModelEntry.parse(JSON.parse(body)).id]).toEqual([200, "named"]);
  });

  it("use Anthropic's format and paging for Anthropic's client", async () => {
    await using scripted = await scriptedServer();
    const client = new Anthropic({ baseURL: scripted.server.url, apiKey: "anything", maxRetries: 0 });
    const models: Anthropic.ModelInfo[] = [];
    for await (const model of client.models.list({ limit: 1 })) models.push(model);
    expect(models).toMatchObject([{ type: "model", id: scriptedId, display_name: scriptedId }]);
    expect(Date.parse(models[0]?.created_at ?? "")).toBeGreaterThan(0);
    expect(await client.models.retrieve(scriptedId)).toEqual(models[0]);
    const page = await client.models.list({ after_id: scriptedId });
    expect([page.data, page.has_more]).toEqual([[], false]);
  });
});

it("a completion may start from an empty prompt", async () => {
  const { status, body, log } = await post("completions", { prompt: "" });
  expect([status, body.usage.prompt_tokens, log.requests.length]).toEqual([200, 1, 1]);
});
