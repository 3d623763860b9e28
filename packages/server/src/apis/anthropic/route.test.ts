import { AnthropicErrorBody, AnthropicMessage, ErrorBody, TokenCount } from "@ingle/protocol";
import type { InjectOptions } from "fastify";
import { describe, expect, it } from "vitest";
import {
  scriptedApp,
  scriptedId,
  scriptedServer,
  type ScriptedOptions,
} from "../../../test/harness/scripted-server.ts";

const messages = [{ role: "user", content: "Hi" }];
const url = "/v1/messages";
const body = { model: scriptedId, max_tokens: 10, messages };
const slow = { pieces: Array.from({ length: 1000 }, () => "x"), delayMs: 5 };

async function inject(request: InjectOptions, options: ScriptedOptions = {}) {
  await using scripted = await scriptedApp(options);
  return await scripted.app.inject({ method: "POST", url, ...request });
}

async function post(base: string, sent: object): Promise<Response> {
  return fetch(`${base}${url}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, ...sent }),
  });
}

describe("a message", () => {
  it("has the published form, and the request's id under both names", async () => {
    const response = await inject(
      { payload: body, headers: { "x-request-id": "mine", "anthropic-version": "2023-06-01" } },
      { script: { pieces: ["Hel", "lo"] }, newId: () => "abc" },
    );
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({ "request-id": "mine", "x-request-id": "mine" });
    expect(AnthropicMessage.parse(response.json())).toEqual({
      id: "msg_abc",
      type: "message",
      role: "assistant",
      model: scriptedId,
      content: [{ type: "text", text: "Hello" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: "user: Hi".length,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 2,
      },
    });
  });

  it("counts for the user of its metadata", async () => {
    await using scripted = await scriptedApp();
    for (const metadata of [{ user_id: "a" }, { user_id: "b" }, { user_id: "a" }])
      await scripted.app.inject({ method: "POST", url, payload: { ...body, metadata } });
    const [first, second, third] = scripted.log.requests.map(({ client }) => client);
    expect(first).toMatch(/^user:/);
    expect([third === first, second === first]).toEqual([true, false]);
  });
});

describe("a streamed message", () => {
  it("is kept alive with comments while it is silent", async () => {
    const response = await inject(
      { payload: { ...body, stream: true } },
      { script: { pieces: ["a"], delayMs: 60 }, keepAliveCommentMs: 10 },
    );
    expect(response.headers["content-type"]).toBe("text/event-stream");
    expect(response.body).toMatch(/^:\n\n/);
    expect(response.body).toMatch(/event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/);
  });

  it("that fails after its first event ends with an error event, and without message_stop", async () => {
    const failure = { code: "out_of_memory" as const, message: "The memory is full." };
    const { statusCode, body: text } = await inject(
      { payload: { ...body, stream: true } },
      { script: { pieces: ["a"], failure } },
    );
    expect(statusCode).toBe(200);
    expect(text).not.toContain("message_stop");
    const [, data = ""] = /event: error\ndata: (.+)\n\n$/.exec(text) ?? [];
    expect(AnthropicErrorBody.parse(JSON.parse(data)).error).toMatchObject({
      type: "overloaded_error",
      message: failure.message,
      code: "out_of_memory",
    });
  });
});

describe("an error", () => {
  const json = { "content-type": "application/json" };

  it.each<[string, InjectOptions, ScriptedOptions["flags"], number, string]>([
    ["a field that is wrong", { payload: { ...body, system: 5 } }, {}, 400, "invalid_request_error"],
    ["malformed JSON", { payload: '{"model": ', headers: json }, {}, 400, "invalid_request_error"],
    ["no key", { payload: body }, { apiKey: ["k"] }, 401, "authentication_error"],
    ["another host", { payload: body, headers: { host: "evil.com" } }, {}, 403, "permission_error"],
    [
      "another origin",
      { payload: body, headers: { origin: "http://evil.com" } },
      {},
      403,
      "permission_error",
    ],
    ["an unknown model", { payload: { ...body, model: "other" } }, {}, 404, "not_found_error"],
    [
      "a large body",
      { payload: { ...body, system: "x".repeat(5000) } },
      { bodyBytesMax: 4096 },
      413,
      "request_too_large",
    ],
    [
      "another content type",
      { payload: "a=b", headers: { "content-type": "text/csv" } },
      {},
      415,
      "invalid_request_error",
    ],
  ])("for %s has both forms, wherever it was found", async (_, request, flags = {}, status, type) => {
    for (const path of [url, `${url}/count_tokens`]) {
      const response = await inject({ ...request, url: path }, { flags });
      expect([path, response.statusCode]).toEqual([path, status]);
      const told = AnthropicErrorBody.parse(response.json());
      expect(told).toMatchObject({
        type: "error",
        error: { type },
        request_id: response.headers["request-id"],
      });
      expect(ErrorBody.parse(response.json()).error.message).toBe(told.error.message);
    }
  });

  it("for an image or a schema names its place in this shape", async () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    const withImage = await inject({ payload: { ...body, messages: [{ role: "user", content: [image] }] } });
    expect(withImage.json().error).toMatchObject({
      code: "image_not_supported",
      param: "messages[0].content[0]",
    });
    const schema = { type: "array", items: { type: "string" }, uniqueItems: true };
    const format = { type: "json_schema", schema };
    const withSchema = await inject({ payload: { ...body, output_config: { format } } });
    expect(withSchema.json().error).toMatchObject({ code: "invalid_request", param: "output_config.format" });
  });

  it("for a full server is a 429 with Retry-After", async () => {
    await using scripted = await scriptedServer({
      script: { ...slow, parallel: 1 },
      flags: { waitingMax: 0 },
    });
    const running = await post(scripted.server.url, { stream: true, max_tokens: 1000 });
    const refused = await post(scripted.server.url, {});
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect(await refused.json()).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
    await running.body?.cancel();
    await expect.poll(() => scripted.log.running.size).toBe(0);
  });

  it("for another method has this shape, too", async () => {
    const response = await inject({ method: "GET" });
    expect([response.statusCode, response.headers["allow"]]).toEqual([405, "POST"]);
    expect(AnthropicErrorBody.parse(response.json()).error.code).toBe("method_not_allowed");
  });
});

describe("counting tokens", () => {
  const counting = `${url}/count_tokens`;

  it("tells what the prompt has, system and all", async () => {
    const payload = { model: scriptedId, system: "Be brief.", messages };
    const response = await inject({ url: counting, payload });
    expect(TokenCount.parse(response.json())).toEqual({ input_tokens: "system: Be brief.\nuser: Hi".length });
  });

  it("gives its place back", async () => {
    await using scripted = await scriptedApp({ script: { parallel: 1 }, flags: { waitingMax: 0 } });
    for (const _ of [1, 2, 3]) {
      const response = await scripted.app.inject({ method: "POST", url: counting, payload: body });
      expect(response.statusCode).toBe(200);
    }
    expect(scripted.log.requests).toEqual([]);
  });
});
