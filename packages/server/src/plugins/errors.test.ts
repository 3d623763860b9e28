import { EngineError } from "@ingle/engine";
import { ErrorBody } from "@ingle/protocol";
import type { InjectOptions } from "fastify";
import { describe, expect, it } from "vitest";
import { buildApp } from "../app.ts";
import { ModelRegistry } from "../models/registry.ts";
import {
  scriptedApp,
  scriptedId,
  testConfig,
  type ScriptedOptions,
} from "../../test/harness/scripted-server.ts";
import { fieldNames } from "../generation/engine-fields.ts";
import { toWireError } from "../http/to-wire-error.ts";

const messages = [{ role: "user", content: "Hi" }];

function chat(body: object): InjectOptions {
  return { method: "POST", url: "/v1/chat/completions", payload: { model: scriptedId, messages, ...body } };
}

async function requestError(request: InjectOptions, options: ScriptedOptions = {}) {
  await using scripted = await scriptedApp(options);
  const response = await scripted.app.inject(request);
  expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
  const { error } = ErrorBody.parse(response.json());
  return { status: response.statusCode, headers: response.headers, ...error };
}

const post = (payload: string | Buffer, type = "application/json"): InjectOptions => ({
  method: "POST",
  url: "/v1/chat/completions",
  headers: { "content-type": type },
  payload,
});

describe("a request that is wrong", () => {
  it.each<[string, InjectOptions, object]>([
    ["malformed JSON", post('{"model": '), { status: 400, code: "invalid_json", param: null }],
    ["an empty body", post(""), { status: 400, code: "invalid_json" }],
    [
      "a key that would change prototypes",
      post('{"__proto__": {"a": 1}}'),
      { status: 400, code: "invalid_request", param: null, message: expect.stringContaining("__proto__") },
    ],
    [
      "such a key deep inside and written otherwise",
      post('{"metadata": [{"\\u005f_proto__": 1}]}'),
      { status: 400, code: "invalid_request", message: expect.stringContaining("__proto__") },
    ],
    [
      "text that is no UTF-8",
      post(Buffer.concat([Buffer.from('{"model": "'), Buffer.from([0xe9]), Buffer.from('"}')])),
      { status: 400, code: "invalid_request", param: null, message: expect.stringContaining("UTF-8") },
    ],
    ["nothing but null", post("null"), { status: 400, code: "invalid_request", param: null }],
    ["a body that is no object", post("[]"), { status: 400, code: "invalid_request", param: null }],
    ["another content type", post("model=m", "application/x-www-form-urlencoded"), { status: 415 }],
    ["plain text", post("{}", "text/plain"), { status: 415, code: "unsupported_media_type" }],
    ["no messages", chat({ messages: [] }), { status: 400, param: "messages" }],
    ["no model", chat({ model: undefined }), { status: 400, param: "model" }],
    [
      "a wrong content",
      chat({ messages: [{ role: "user", content: 5 }] }),
      { status: 400, param: "messages[0].content" },
    ],
    ["a temperature below 0", chat({ temperature: -1 }), { status: 400, param: "temperature" }],
    [
      "a penalty that 32 bits do not hold",
      chat({ repeat_penalty: 5e-324 }),
      { status: 400, param: "repeat_penalty" },
    ],
    ["top_p below 0", chat({ top_p: -0.1, stream: true }), { status: 400, param: "top_p" }],
    ["two penalties that differ", chat({ repeat_penalty: 1.1, repetition_penalty: 1.2 }), { status: 400 }],
    ["a choice among no tools", chat({ tool_choice: "required" }), { status: 400, param: "tool_choice" }],
    ["an unknown model", chat({ model: "other" }), { status: 404, code: "model_not_found", param: "model" }],
    ["an unknown path", { url: "/v1/nothing" }, { status: 404, code: "not_found", type: "not_found_error" }],
    ["an unknown model's entry", { url: "/v1/models/other" }, { status: 404, code: "model_not_found" }],
    ["a path that cannot be decoded", { url: "/v1/models/%zz" }, { status: 400, code: "invalid_request" }],
  ])("%s", async (_name, request, expected) => {
    expect(await requestError(request)).toMatchObject({
      type: "invalid_request_error",
      ...expected,
      ...expectedType(expected),
    });
  });

  it("is told the methods of a path", async () => {
    const { headers, ...error } = await requestError({ url: "/v1/chat/completions" });
    expect(error).toMatchObject({ status: 405, code: "method_not_allowed" });
    expect(headers["allow"]).toBe("POST");
    const { headers: more } = await requestError({ method: "DELETE", url: "/v1/models/a/b?x=1" });
    expect(more["allow"]).toBe("GET, HEAD");
  });

  it("is too large beyond the limit", async () => {
    const large = chat({ messages: [{ role: "user", content: "x".repeat(5000) }] });
    expect(await requestError(large, { flags: { bodyBytesMax: 4096 } })).toMatchObject({
      status: 413,
      code: "payload_too_large",
    });
  });

  it("with an image for a text model is refused by its place", async () => {
    const content = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }];
    expect(await requestError(chat({ messages: [{ role: "user", content }] }))).toMatchObject({
      status: 400,
      code: "image_not_supported",
      param: "messages[0].content[0]",
    });
  });
});

function expectedType(expected: object): object {
  return "status" in expected && expected.status === 404 ? { type: "not_found_error" } : {};
}

describe("the engine's errors", () => {
  it.each([false, true])("tell the numbers of a prompt that is too long (stream: %s)", async (stream) => {
    const refusal = {
      code: "context_length_exceeded" as const,
      message: "The prompt is too long.",
      details: { promptTokens: 3000, contextLength: 2048 },
    };
    expect(await requestError(chat({ stream }), { script: { refusal } })).toMatchObject({
      status: 400,
      code: "context_length_exceeded",
      n_prompt_tokens: 3000,
      n_ctx: 2048,
    });
  });

  it("name fields as the request does", () => {
    const message = "responseFormat: this schema has a keyword that cannot be enforced.";
    const error = new EngineError("invalid_request", message, { details: { param: "responseFormat" } });
    expect(toWireError(error, fieldNames)).toMatchObject({
      message: "response_format: this schema has a keyword that cannot be enforced.",
      details: { param: "response_format" },
    });
  });

  it.each([false, true])(
    "are a 429 with a time to try again when its line is full (stream: %s)",
    async (stream) => {
      const refusal = { code: "overloaded" as const, message: "The line is full." };
      const { headers, ...error } = await requestError(chat({ stream }), { script: { refusal } });
      expect(error).toMatchObject({ status: 429, code: "overloaded", type: "rate_limit_error" });
      expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    },
  );

  it.each([
    ["engine_failed", 500],
    ["out_of_memory", 503],
  ] as const)("%s is a %i, and the server goes on", async (code, status) => {
    await using scripted = await scriptedApp({
      script: { pieces: [], failure: { code, message: "It broke." } },
    });
    const broken = await scripted.app.inject(chat({}));
    expect(broken.statusCode).toBe(status);
    expect(broken.json().error).toMatchObject({ code, message: "It broke." });
    expect(broken.headers["retry-after"] !== undefined).toBe(status === 503);
    expect((await scripted.app.inject({ url: "/v1/models" })).statusCode).toBe(200);
  });

  it("about a field name it as the wire does", () => {
    const error = new EngineError("invalid_request", "No.", { details: { param: "prompt" } });
    expect(toWireError(error)).toMatchObject({ code: "invalid_request", details: { param: "prompt" } });
  });
});

describe("a server without its model", () => {
  it("answers 503 with a time to try again while it loads", async () => {
    const registry = new ModelRegistry({ waitingMax: 1 });
    void registry.load(scriptedId, () => new Promise(() => {})); // never ends
    const app = await buildApp(testConfig(), { registry });
    const response = await app.inject(chat({}));
    expect(response.statusCode).toBe(503);
    expect(response.json().error.code).toBe("model_loading");
    const seconds = Number(response.headers["retry-after"]);
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(5);
    await app.close();
  });

  it("answers 503 when it is stopping", async () => {
    await using scripted = await scriptedApp();
    await scripted.registry[Symbol.asyncDispose]();
    const response = await scripted.app.inject(chat({}));
    expect(response.statusCode).toBe(503);
    expect(response.json().error.code).toBe("shutting_down");
    expect(response.headers["retry-after"]).toBeDefined();
  });
});

describe("what nobody foresaw", () => {
  it("keeps its words to itself", () => {
    expect(toWireError(new Error("/home/someone/secret"))).toMatchObject({ code: "internal" });
    expect(toWireError(new Error("/home/someone/secret")).message).not.toContain("secret");
    expect(toWireError("a string").code).toBe("internal");
  });
});
