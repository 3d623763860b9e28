import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { LoggerSetting } from "../logger.ts";
import { resolveConfig } from "../config.ts";
import { serve } from "../serve.ts";
import {
  scriptedApp,
  scriptedId,
  scriptedRegistry,
  scriptedServer,
} from "../../test/harness/scripted-server.ts";

function memoryLogger(): { logger: LoggerSetting; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  return { logger: { level: "info", stream }, lines };
}

const secret = "a secret prompt";
const payload = { model: scriptedId, messages: [{ role: "user", content: secret }] };

describe("the log", () => {
  it.each([false, true])("has one line for a chat, without its texts (stream: %s)", async (stream) => {
    const { logger, lines } = memoryLogger();
    await using scripted = await scriptedApp({ logger, script: { pieces: ["a secret reply"] } });
    await scripted.app.inject({
      method: "POST",
      url: "/v1/chat/completions",
      payload: { ...payload, stream },
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      msg: "request",
      method: "POST",
      route: "/v1/chat/completions",
      status: 200,
      model: scriptedId,
      promptTokens: `user: ${secret}`.length,
      completionTokens: 1,
      ttftMs: 1,
      finishReason: "stop",
      durationMs: expect.any(Number),
    });
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  it("has the code of a refusal, and no text of it", async () => {
    const { logger, lines } = memoryLogger();
    await using scripted = await scriptedApp({ logger });
    await scripted.app.inject({
      method: "POST",
      url: "/v1/chat/completions",
      payload: { ...payload, temperature: -1 },
    });
    expect(lines).toEqual([expect.objectContaining({ status: 400, code: "invalid_request" })]);
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  it("has the cause of a failure, as an error, in the same line", async () => {
    const { logger, lines } = memoryLogger();
    const failure = { code: "engine_failed" as const, message: "The device is gone." };
    await using scripted = await scriptedApp({ logger, script: { failure } });
    await scripted.app.inject({
      method: "POST",
      url: "/v1/chat/completions",
      payload: { ...payload, stream: true },
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 50, status: 200, code: "engine_failed" });
    expect(lines[0]?.["err"]).toMatchObject({ message: expect.stringContaining(failure.message) });
  });

  it("has a client that left as 499", async () => {
    const { logger, lines } = memoryLogger();
    const script = { pieces: Array.from({ length: 1000 }, () => "x"), delayMs: 5 };
    await using scripted = await scriptedServer({ logger, script });
    const leaving = new AbortController();
    const response = await fetch(`${scripted.server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...payload, stream: true }),
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    leaving.abort();
    const ofRequests = () => lines.filter(({ msg }) => msg === "request");
    await expect
      .poll(ofRequests)
      .toEqual([expect.objectContaining({ level: 30, status: 499, model: scriptedId })]);
  });

  it("is silent about probes", async () => {
    const { logger, lines } = memoryLogger();
    await using scripted = await scriptedApp({ logger });
    await scripted.app.inject({ url: "/livez" });
    expect(lines).toEqual([]);
  });
});

describe("x-request-id", () => {
  it("is taken from the client and given back, also with an error", async () => {
    await using scripted = await scriptedApp();
    for (const url of ["/v1/models", "/v1/nothing"]) {
      const { headers } = await scripted.app.inject({ url, headers: { "x-request-id": "my-id.1:2_3" } });
      expect(headers["x-request-id"]).toBe("my-id.1:2_3");
    }
  });

  it.each(["", "a b", "x".repeat(129), 'a"b', "é"])("%j is replaced by one of ours", async (id) => {
    await using scripted = await scriptedApp();
    const { headers } = await scripted.app.inject({ url: "/v1/models", headers: { "x-request-id": id } });
    expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("a request", () => {
  it("does not make Node suspect a leak of listeners", async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): number => warnings.push(name);
    process.on("warning", note);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
    const config = resolveConfig({
      flags: { port: 0, apiKey: ["key"], insecureShortKey: true, rateLimit: 100 },
      env,
    });
    const { registry } = await scriptedRegistry({}, config);
    await using server = await serve(config, { logger: false, registry });
    const reply = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer key" },
      body: JSON.stringify({ ...payload, stream: true }),
    });
    expect(await reply.text()).toContain("[DONE]");
    await new Promise(setImmediate); // warnings are told in a turn of their own
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });
});
