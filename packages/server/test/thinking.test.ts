// Limits of thoughts: every name that they have in an API, the server's own, and the end of a running one.
import { describe, expect, it } from "vitest";
import type { Script } from "@ingle/fixtures/scripted-addon";
import type { ServerFlags } from "../src/config.ts";
import { scriptedApp, scriptedId, scriptedServer } from "./harness/scripted-server.ts";

const thought = { begin: "<think>", ends: ["</think>"], isOpen: true, mayThink: true };
const messages = [{ role: "user", content: "Hi" }];

/** The rules of the thought that the engine gets for a request. */
async function sentRules(url: string, body: object, flags: ServerFlags = {}) {
  await using scripted = await scriptedApp({ script: { thought }, flags });
  const payload = { model: scriptedId, ...body };
  const response = await scripted.app.inject({ method: "POST", url, payload });
  expect([url, response.statusCode, response.body]).toEqual([url, 200, expect.any(String)]);
  const rules = scripted.log.requests[0]?.thought;
  const closing = String.fromCharCode(...(rules?.closing ?? []));
  return {
    tokensMax: rules?.tokensMax,
    share: rules?.share,
    closing,
    ignored: response.headers["x-ingle-ignored"],
  };
}

const chat = (body: object, flags?: ServerFlags) =>
  sentRules("/v1/chat/completions", { messages, ...body }, flags);

describe("a thought's limit", () => {
  it.each([
    { thinking_budget_tokens: 9 },
    { reasoning_budget_tokens: 9 },
    { reasoning_budget: 9 },
    { thinking_budget: 9 },
    { thinking_token_budget: 9 },
    { reasoning: { max_tokens: 9 } },
    { reasoning: { max_tokens: 9 }, thinking_budget: 7, reasoning_effort: "low" },
  ])("is %j in a chat completion", async (body) => {
    expect(await chat(body)).toEqual({ tokensMax: 9, share: 0, closing: "</think>", ignored: undefined });
  });

  it("has the names of other APIs", async () => {
    const max_tokens = 50;
    const thinking = { type: "enabled", budget_tokens: 9 };
    expect((await sentRules("/v1/messages", { messages, max_tokens, thinking })).tokensMax).toBe(9);
    const reasoning = { max_tokens: 9 };
    expect((await sentRules("/v1/responses", { input: "Hi", reasoning })).tokensMax).toBe(9);
    expect((await sentRules("/v1/responses", { input: "Hi", thinking_budget: 8 })).tokensMax).toBe(8);
  });

  it("is a share of the reply for an effort, and none without one", async () => {
    const share = async (body: object) => (await chat(body)).share;
    expect(await share({})).toBe(0);
    expect(await share({ reasoning_effort: "low" })).toBe(0.2);
    expect(await share({ reasoning: { effort: "high" } })).toBe(0.8);
    expect(await share({ reasoning_effort: "max" })).toBe(0);
  });

  it("is the server's where the request has none, which may also have no limit", async () => {
    const flags = { reasoningBudget: 30, reasoningBudgetMessage: " Enough." };
    expect(await chat({}, flags)).toMatchObject({ tokensMax: 30, closing: " Enough.</think>" });
    expect(await chat({ thinking_budget_tokens: 0 }, flags)).toMatchObject({ tokensMax: 0 });
    expect(await chat({ thinking_budget_tokens: -1, reasoning_budget_message: "" }, flags)).toMatchObject({
      tokensMax: -1,
      closing: "</think>",
    });
  });

  it("is refused by its name if the model's thoughts have no known end, or if it is no number", async () => {
    const script: Script = { thought: { begin: "", ends: [], isOpen: false, mayThink: true } };
    await using scripted = await scriptedApp({ script });
    const ask = async (body: object) => {
      const payload = { model: scriptedId, messages, ...body };
      return JSON.parse(
        (await scripted.app.inject({ method: "POST", url: "/v1/chat/completions", payload })).body,
      );
    };
    expect(await ask({ thinking_budget_tokens: 5 })).toMatchObject({
      error: { code: "invalid_request", param: "thinking_budget_tokens" },
    });
    expect(await ask({ thinking_budget: "much" })).toMatchObject({ error: { param: "thinking_budget" } });
    expect(await ask({ reasoning_effort: "low" })).toMatchObject({ choices: [{}] });
  });
});

describe("a running thought", () => {
  it("is ended for the key that asked, by the id of its response", async () => {
    const flags = { apiKey: ["one", "other"] };
    const script: Script = { thought, pieces: Array.from({ length: 10_000 }, () => "hm "), delayMs: 10 };
    await using scripted = await scriptedServer({ script, flags });
    const post = async (url: string, key: string, body: object) =>
      await fetch(scripted.server.url + url, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const reply = await post("/v1/chat/completions", "one", { model: scriptedId, messages, stream: true });
    const reader = reply.body?.getReader();
    let text = "";
    while (!text.includes("hm ")) text += new TextDecoder().decode((await reader?.read())?.value);
    const id = /"id":"(chatcmpl-[^"]+)"/.exec(text)?.[1] ?? "";
    const end = async (key: string, of: string) =>
      await post("/v1/chat/completions/control", key, { id: of, action: "reasoning_end" });
    expect((await end("other", id)).status).toBe(404);
    expect((await end("one", "chatcmpl-0")).status).toBe(404);
    expect(scripted.log.endedThoughts).toEqual([]);
    const ended = await end("one", id);
    expect([ended.status, await ended.json()]).toEqual([200, { success: true }]);
    expect(scripted.log.endedThoughts).toEqual([1]);
    expect((await post("/v1/chat/completions/control", "one", { id, action: "stop" })).status).toBe(400);
    await reader?.cancel();
    await expect.poll(async () => (await end("one", id)).status).toBe(404);
  });

  it("is an error where there is nothing to end", async () => {
    await using scripted = await scriptedServer({
      script: { pieces: Array.from({ length: 10_000 }, () => "a "), delayMs: 10 },
    });
    const { url } = scripted.server;
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ model: scriptedId, messages, stream: true });
    const reply = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
    const reader = reply.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    const id = /"id":"(chatcmpl-[^"]+)"/.exec(first)?.[1];
    const control = JSON.stringify({ id, action: "reasoning_end" });
    const ended = await fetch(`${url}/v1/chat/completions/control`, {
      method: "POST",
      headers,
      body: control,
    });
    expect([ended.status, await ended.json()]).toMatchObject([
      400,
      { error: { code: "invalid_request", param: "id" } },
    ]);
    await reader?.cancel();
  });
});
