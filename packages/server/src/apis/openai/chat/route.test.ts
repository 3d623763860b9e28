import { ChatCompletion, type ChatCompletionChunk } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import type { ServerFlags } from "../../../config.ts";
import { scriptedApp, scriptedId, scriptedServer } from "../../../../test/harness/scripted-server.ts";

const messages = [{ role: "user", content: "Hi" }];
const pieces = ["Hel", "lo ", "wörld", " 🦆", "\n"];
const slow = { pieces: Array.from({ length: 1000 }, () => "x"), delayMs: 5 };

async function post(url: string, body: object, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: scriptedId, messages, ...body }),
    ...init,
  });
}

/** The data of every event; comments are no events. */
function readData(stream: string): string[] {
  return stream
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice(6));
}

function joinText(data: readonly string[]): string {
  const chunks: ChatCompletionChunk[] = data
    .filter((each) => each !== "[DONE]")
    .map((each) => JSON.parse(each));
  return chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
}

describe("an answer in one piece", () => {
  it("has the published form", async () => {
    await using scripted = await scriptedApp({
      script: { pieces },
      now: () => new Date(1_700_000_000_500),
      newId: () => "abc",
    });
    const response = await scripted.app.inject({
      method: "POST",
      url: "/v1/chat/completions",
      payload: { model: scriptedId, messages },
    });
    expect(ChatCompletion.parse(response.json())).toEqual({
      id: "chatcmpl-abc",
      object: "chat.completion",
      created: 1_700_000_000,
      model: scriptedId,
      system_fingerprint: "ingle-scripted-f16-1000",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: pieces.join("") },
          finish_reason: "stop",
          logprobs: null,
        },
      ],
      usage: {
        prompt_tokens: 8,
        completion_tokens: 5,
        total_tokens: 13,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      timings: {
        prompt_n: 8,
        prompt_ms: 1,
        prompt_per_second: 8000,
        predicted_n: 5,
        predicted_ms: 5,
        predicted_per_second: 800,
        cache_n: 0,
        dropped_n: 0,
      },
    });
  });

  it("finishes with length when max_tokens is reached", async () => {
    await using scripted = await scriptedApp({ script: { pieces } });
    const payload = { model: scriptedId, messages, max_tokens: 2 };
    const response = await scripted.app.inject({ method: "POST", url: "/v1/chat/completions", payload });
    expect(response.json().choices[0]).toMatchObject({
      message: { content: "Hello " },
      finish_reason: "length",
    });
  });
});

describe("what reaches the engine", () => {
  it.each<[ServerFlags, object, object]>([
    [
      { variant: "desktop" },
      {},
      { topK: 40, temperature: 1, topP: 1, repeatPenalty: 1, repeatLastN: 64, minP: 0 },
    ],
    [{ variant: "developer" }, { model: "a word" }, { topK: 40 }],
    [{ variant: "command-line" }, {}, { topK: 50 }],
    [{ variant: "serverless", noAuth: true }, {}, { topK: 50 }],
    [{}, { top_k: -1, temperature: 0 }, { topK: 0, temperature: 0 }],
    [{}, { repeat_penalty: 1.3 }, { repeatPenalty: 1.3 }],
    [{ variant: "serverless", noAuth: true }, { repeat_penalty: 1.3 }, { repeatPenalty: 1.3 }],
    [{}, { repetition_penalty: 1.4 }, { repeatPenalty: 1.4 }],
    [{}, { repeat_penalty: 1.4, repetition_penalty: 1.4, seed: null }, { repeatPenalty: 1.4 }],
  ])("with %j, %j is %j", async (flags, body, sampling) => {
    await using scripted = await scriptedApp({ flags });
    const payload = { model: scriptedId, messages, ...body };
    const response = await scripted.app.inject({ method: "POST", url: "/v1/chat/completions", payload });
    expect(response.statusCode).toBe(200);
    expect(scripted.log.requests[0]?.sampling).toMatchObject(sampling);
  });
});

describe("tools whose parameters are nested too deeply", () => {
  it("are refused by name and rule", async () => {
    const parameters = JSON.parse(`${'{"items":'.repeat(65)}{}${"}".repeat(65)}`) as object;
    await using scripted = await scriptedApp();
    const payload = {
      model: scriptedId,
      messages,
      tools: [{ type: "function", function: { name: "f", parameters } }],
    };
    const response = await scripted.app.inject({ method: "POST", url: "/v1/chat/completions", payload });
    expect([response.statusCode, response.json()]).toMatchObject([
      400,
      { error: { param: "tools", message: "tools: parameters must not be nested deeper than 64" } },
    ]);
  });
});

describe("many replies to one request", () => {
  it("make Node warn of nothing", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): unknown => warnings.push(warning);
    process.on("warning", note);
    try {
      await using scripted = await scriptedApp();
      const payload = { model: scriptedId, messages, n: 16 };
      const response = await scripted.app.inject({ method: "POST", url: "/v1/chat/completions", payload });
      expect(ChatCompletion.parse(response.json()).choices).toHaveLength(16);
      expect(warnings).toEqual([]);
    } finally {
      process.off("warning", note);
    }
  });
});

describe("a stream", () => {
  it("is the same text as the answer in one piece, and ends with [DONE]", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const response = await post(scripted.server.url, {
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const data = readData(await response.text());
    expect(data.at(-1)).toBe("[DONE]");
    expect(JSON.parse(data.at(-2) ?? "")).toMatchObject({ choices: [], usage: { completion_tokens: 5 } });
    const whole = ChatCompletion.parse(await (await post(scripted.server.url, {})).json());
    expect(joinText(data)).toBe(whole.choices[0]?.message.content);
  });

  it("arrives piece by piece, not at its end", async () => {
    await using scripted = await scriptedServer({ script: slow });
    const response = await post(scripted.server.url, { stream: true, max_tokens: 100 });
    const reader = response.body!.getReader();
    await reader.read();
    expect(scripted.log.running.size).toBe(1);
    await reader.cancel();
  });

  it("keeps a silent line alive with comments", async () => {
    await using scripted = await scriptedApp({
      script: { pieces: ["a"], delayMs: 60 },
      keepAliveCommentMs: 10,
    });
    const payload = { model: scriptedId, messages, stream: true };
    const { body } = await scripted.app.inject({ method: "POST", url: "/v1/chat/completions", payload });
    expect(body).toMatch(/^:\n\n/);
    expect(joinText(readData(body))).toBe("a");
  });

  it("that fails after its first chunk ends with one error event and no [DONE]", async () => {
    const failure = { code: "engine_failed" as const, message: "The device is gone." };
    await using scripted = await scriptedServer({ script: { pieces, failure } });
    const response = await post(scripted.server.url, { stream: true });
    expect(response.status).toBe(200);
    const data = readData(await response.text());
    expect(JSON.parse(data.at(-1) ?? "")).toEqual({
      error: { message: failure.message, type: "server_error", param: null, code: "engine_failed" },
    });
    expect(data.filter((each) => each.includes('"error"'))).toHaveLength(1);
    expect(data).not.toContain("[DONE]");
  });
});

describe("a client that leaves", () => {
  it.each([true, false])("has its work cancelled (stream: %s)", async (stream) => {
    await using scripted = await scriptedServer({ script: slow });
    const leaving = new AbortController();
    const pending = post(scripted.server.url, { stream }, { signal: leaving.signal });
    const outcome = pending.then((response) => response.text()).catch((error: unknown) => error);
    await expect.poll(() => scripted.log.running.size).toBe(1);
    leaving.abort();
    await expect.poll(() => scripted.log.cancelled).toEqual([1]);
    expect(scripted.log.running.size).toBe(0);
    expect(await outcome).toBeInstanceOf(DOMException);
  });

  it("gives its place in line back", async () => {
    await using scripted = await scriptedServer({
      script: { ...slow, parallel: 1 },
      flags: { waitingMax: 0 },
    });
    for (let round = 0; round < 3; round += 1) {
      const response = await post(scripted.server.url, { stream: true });
      expect(response.status).toBe(200);
      expect((await post(scripted.server.url, {})).status).toBe(429);
      await response.body?.cancel();
      await expect.poll(() => scripted.log.running.size).toBe(0);
    }
  });
});

describe("a full server", () => {
  it("is a 429 with Retry-After, also for a stream, and takes the next one after it", async () => {
    await using scripted = await scriptedServer({
      script: { pieces: ["a"], delayMs: 1_500, parallel: 1 },
      flags: { waitingMax: 1 },
    });
    const taken = [post(scripted.server.url, {}), post(scripted.server.url, {})];
    await expect.poll(() => scripted.log.running.size).toBe(2);
    const refused = await post(scripted.server.url, { stream: true });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: { code: "overloaded" } });
    for (const response of await Promise.all(taken)) expect(response.status).toBe(200);
    expect((await post(scripted.server.url, {})).status).toBe(200);
  });
});
