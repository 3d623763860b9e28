// What clients send back, or write in another way than their API's documentation, has one meaning in every API.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ignoredHeader } from "../plugins/bodies.ts";
import { scriptedApp, scriptedId, type ScriptedApp } from "../../test/harness/scripted-server.ts";

const hello = { role: "user", content: "Hi" };
const turns = [hello];
const parameters = { type: "object", properties: {} };

let scripted: ScriptedApp;
beforeAll(async () => {
  scripted = await scriptedApp({ flags: { ollamaApi: true } });
});
afterAll(() => scripted[Symbol.asyncDispose]());

async function send(url: string, body: object) {
  const payload = { model: scriptedId, ...body };
  const sent = await scripted.app.inject({ method: "POST", url, payload });
  const ignored: unknown = sent.headers[ignoredHeader];
  return { status: sent.statusCode, ignored, body: sent.body };
}

describe("what clients send back or send otherwise", () => {
  const thoughts = "I think";
  it.each<[what: string, url: string, body: object]>([
    [
      "a reply of thoughts only",
      "/v1/chat/completions",
      { messages: [hello, { role: "assistant", content: null, reasoning_content: thoughts }, hello] },
    ],
    [
      "a reply of thoughts only",
      "/v1/responses",
      {
        input: [
          hello,
          { type: "reasoning", id: "r", summary: [], content: [{ type: "reasoning_text", text: thoughts }] },
          hello,
        ],
      },
    ],
    [
      "a reply of thoughts only",
      "/v1/messages",
      {
        max_tokens: 5,
        messages: [
          hello,
          { role: "assistant", content: [{ type: "thinking", thinking: thoughts, signature: "" }] },
          hello,
        ],
      },
    ],
    [
      "a reply of thoughts only",
      "/api/chat",
      { stream: false, messages: [hello, { role: "assistant", content: "", thinking: thoughts }, hello] },
    ],
    [
      "a reply of thoughts only",
      "/v1/tokenize",
      { messages: [hello, { role: "assistant", reasoning_content: thoughts }, hello] },
    ],
  ])("%s is read by %s", async (_what, url, body) => {
    const before = scripted.log.chats.length;
    expect(await send(url, body)).toMatchObject({ status: 200, ignored: undefined });
    if (url === "/v1/tokenize") return;
    expect(scripted.log.chats.slice(before)[0]?.messages).toMatchObject([
      { role: "user", content: "Hi" },
      { role: "assistant", content: "", reasoning: thoughts },
      { role: "user", content: "Hi" },
    ]);
  });

  it.each<[what: string, url: string, body: object, engine: object]>([
    [
      "logit_bias with false",
      "/v1/chat/completions",
      { messages: turns, logit_bias: { "5": false, "6": 2 } },
      {
        sampling: { logitBias: Float64Array.of(5, -Infinity, 6, 2) },
      },
    ],
    [
      "logit_bias with false",
      "/v1/completions",
      { prompt: "Hi", logit_bias: { "5": false } },
      { sampling: { logitBias: Float64Array.of(5, -Infinity) } },
    ],
  ])("%s is read by %s", async (_what, url, body, engine) => {
    expect(await send(url, body)).toMatchObject({ status: 200, ignored: undefined });
    expect(scripted.log.requests.at(-1)).toMatchObject(engine);
  });

  it.each([true, "true"])(
    "strict: %j refuses a schema that cannot be enforced, in every API",
    async (strict) => {
      const schema = { type: "array", items: { type: "string" }, uniqueItems: true };
      const refused = [
        await send("/v1/chat/completions", {
          messages: turns,
          response_format: { type: "json_schema", json_schema: { name: "s", schema, strict } },
        }),
        await send("/v1/responses", {
          input: "Hi",
          text: { format: { type: "json_schema", name: "s", schema, strict } },
        }),
      ];
      expect(refused.map(({ status }) => status)).toEqual([400, 400]);
      for (const { body } of refused) expect(body).toContain("uniqueItems");
      const tools = [{ type: "function", function: { name: "f", parameters, strict } }];
      expect((await send("/v1/chat/completions", { messages: turns, tools })).status).toBe(200);
      const wrong = [{ type: "function", function: { name: "f", parameters, strict: "yes" } }];
      expect((await send("/v1/chat/completions", { messages: turns, tools: wrong })).status).toBe(400);
    },
  );

  it.each(["auto", "required"])(
    "strict tools that cannot be enforced are refused by name in every API, with the tool choice %s",
    async (choice) => {
      const open = { type: "object", properties: { a: {} }, unevaluatedProperties: false };
      const send3 = async (strict: boolean) => [
        await send("/v1/chat/completions", {
          messages: turns,
          tools: [{ type: "function", function: { name: "f", parameters: open, strict } }],
          tool_choice: choice,
        }),
        await send("/v1/responses", {
          input: "Hi",
          tools: [{ type: "function", name: "f", parameters: open, strict }],
          tool_choice: choice,
        }),
        await send("/v1/messages", {
          messages: turns,
          max_tokens: 9,
          tools: [{ name: "f", input_schema: open, strict }],
          tool_choice: { type: choice === "auto" ? "auto" : "any" },
        }),
      ];
      const refused = await send3(true);
      expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
      for (const { body } of refused) expect(body).toContain("unevaluatedProperties");
      expect((await send3(false)).map(({ status }) => status)).toEqual([200, 200, 200]);
    },
  );

  it("unknown options of Ollama's are named as ignored, and change nothing", async () => {
    const options = { temperature: 0, foo: 1, min_tokens: 9, ignore_eos: true, empty: null };
    const asked = { stream: false, options };
    const sent = await send("/api/chat", { messages: turns, ...asked });
    expect(sent).toMatchObject({
      status: 200,
      ignored: "options.foo, options.min_tokens, options.ignore_eos",
    });
    expect(scripted.log.requests.at(-1)).toMatchObject({ sampling: { minTokens: 0 }, ignoreEos: false });
    expect(await send("/api/generate", { prompt: "Hi", ...asked })).toMatchObject(
      sent.ignored === undefined ? {} : { status: 200, ignored: sent.ignored },
    );
    expect(await send("/api/embed", { input: "Hi", options: { foo: 1 } })).toMatchObject({
      status: 200,
      ignored: "options.foo",
    });
    expect(await send("/api/chat", { messages: turns, options: { temperature: "hot" } })).toMatchObject({
      status: 400,
    });
  });

  it("thinking that is omitted leaves its block, whole and streamed", async () => {
    await using thinking = await scriptedApp({
      script: { pieces: ["x"], reply: () => ({ content: "Yes.", reasoning: "Hm.", calls: [] }) },
    });
    const body = {
      model: scriptedId,
      max_tokens: 5,
      messages: turns,
      thinking: { type: "adaptive", display: "omitted" },
    };
    const ask = (stream: boolean) =>
      thinking.app.inject({ method: "POST", url: "/v1/messages", payload: { ...body, stream } });
    expect((await ask(false)).json().content).toEqual([
      { type: "thinking", thinking: "", signature: "" },
      { type: "text", text: "Yes." },
    ]);
    const { body: events } = await ask(true);
    expect(events).toContain('"content_block":{"type":"thinking"');
    expect(events).toContain('"signature_delta"');
    expect(events).not.toContain("Hm.");
  });

  it("message_start counts the cached tokens, as the last event does", async () => {
    await using caching = await scriptedApp({ script: { cachedTokens: 5 } });
    const payload = { model: scriptedId, max_tokens: 5, messages: turns, stream: true };
    const { body } = await caching.app.inject({ method: "POST", url: "/v1/messages", payload });
    const usages = [...body.matchAll(/"usage":(\{[^}]*\})/g)].map(([, json = ""]) => JSON.parse(json));
    expect(usages).toHaveLength(2);
    expect(usages[0]).toMatchObject({ cache_read_input_tokens: 5, output_tokens: 0 });
    expect(usages[1]).toMatchObject({ cache_read_input_tokens: 5, input_tokens: usages[0].input_tokens });
  });

  const empty = (role: string) => ({ role, content: [] });
  it.each<[who: string, status: number, url: string, body: object]>([
    ["a user", 400, "/v1/chat/completions", { messages: [empty("user")] }],
    ["a user", 400, "/v1/responses", { input: [empty("user")] }],
    ["a user", 400, "/v1/messages", { max_tokens: 5, messages: [empty("user")] }],
    ["a system message", 400, "/v1/chat/completions", { messages: [empty("system"), hello] }],
    ["a system message", 400, "/v1/responses", { input: [empty("system"), hello] }],
    ["a system message", 400, "/v1/messages", { max_tokens: 5, messages: [hello, empty("system")] }],
    ["an assistant", 200, "/v1/chat/completions", { messages: [hello, empty("assistant"), hello] }],
    ["an assistant", 200, "/v1/responses", { input: [hello, empty("assistant"), hello] }],
    ["an assistant", 200, "/v1/messages", { max_tokens: 5, messages: [hello, empty("assistant"), hello] }],
    ["a tool", 200, "/v1/chat/completions", { messages: [hello, { ...empty("tool"), tool_call_id: "c" }] }],
    [
      "a tool",
      200,
      "/v1/responses",
      { input: [hello, { type: "function_call_output", call_id: "c", output: [] }] },
    ],
    [
      "a tool",
      200,
      "/v1/messages",
      {
        max_tokens: 5,
        messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: [] }] }],
      },
    ],
  ])("an empty list as the content of %s is a %i in %s %s", async (_who, status, url, body) => {
    expect((await send(url, body)).status).toBe(status);
  });

  it.each(["/v1/models/", "/api/v0/models/"])("GET %s names no model", async (url) => {
    await using other = await scriptedApp({ flags: { lmStudioApi: true } });
    const got = await other.app.inject({ url });
    expect([got.statusCode, got.json().error.message]).toEqual([404, `Unknown route: ${url}.`]);
    expect((await other.app.inject({ url: `${url}${scriptedId}` })).statusCode).toBe(200);
  });
});
