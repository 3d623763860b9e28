// A route that only this test has: what an object and a line of registration get from the one way of all generations.
import { Writable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { dataEvent, namedEvent } from "../http/event-stream.ts";
import {
  scriptedApp,
  scriptedId,
  type ScriptedApp,
  type ScriptedOptions,
} from "../../test/harness/scripted-server.ts";
import { addGenerationRoute } from "./add-generation-route.ts";
import type { GenerationRoute } from "./generation-route.ts";

const EchoRequest = z.object({
  model: z.string().optional(),
  stream: z.boolean().optional(),
  say: z.string(),
  pattern: z.record(z.string(), z.unknown()).optional(),
  colour: z.string().optional(),
});
type EchoRequest = z.infer<typeof EchoRequest>;

const echo: GenerationRoute<EchoRequest> = {
  path: "/v1/echo",
  body: EchoRequest,
  operation: { summary: "A route of a test", responses: { 200: z.object({ said: z.string() }) } },
  conventions: {
    fieldNames: { responseFormat: "pattern" },
    errorShape: ({ error }, { id }) => ({ failed: error.code, field: error.param, id }),
    requestIdHeader: "echo-id",
  },
  idPrefix: "echo-",
  tracedAs: "chat",
  toEngine: ({ say, pattern: schema, colour }) => ({
    prompts: [
      {
        messages: [{ role: "user", content: say }],
        responseFormat: schema === undefined ? undefined : { type: "json_schema", schema, strict: true },
      },
    ],
    ignored: colour === undefined ? [] : ["colour"],
  }),
  respond: ({ head, generation }) => ({
    whole: async () => ({ id: head.id, text: (await generation).text }),
    events: async function* () {
      for await (const { text } of generation) yield dataEvent(JSON.stringify(text));
      yield namedEvent("end", "{}");
    },
    errorEvents: ({ error }) => namedEvent("failed", JSON.stringify(error.code)),
  }),
};

async function echoApp(options: ScriptedOptions = {}): Promise<ScriptedApp> {
  const scripted = await scriptedApp({ newId: () => "1", ...options });
  addGenerationRoute(scripted.app, echo, {
    registry: scripted.registry,
    variant: "desktop",
    sampling: { set: {}, followsModels: true },
    keepAliveMs: 1000,
    now: () => new Date(),
    imageHosts: new Set<string>(),
    newId: () => "1",
  });
  return scripted;
}

async function post(app: FastifyInstance, body: object) {
  const payload = { model: scriptedId, say: "Hi", ...body };
  return app.inject({ method: "POST", url: echo.path, payload, headers: { "x-request-id": "r1" } });
}

describe("another route", () => {
  it("gets a response in one piece, its request id and the names of ignored fields", async () => {
    await using scripted = await echoApp({ script: { pieces: ["a", "b"] } });
    const response = await post(scripted.app, { colour: "red" });
    expect([response.statusCode, response.json()]).toEqual([200, { id: "echo-1", text: "ab" }]);
    expect(response.headers).toMatchObject({ "echo-id": "r1", "x-ingle-ignored": "colour" });
  });

  it("gets a stream", async () => {
    await using scripted = await echoApp({ script: { pieces: ["a", "b"] } });
    const response = await post(scripted.app, { stream: true });
    expect(response.headers["content-type"]).toBe("text/event-stream");
    expect(response.body).toBe('data: "a"\n\ndata: "b"\n\nevent: end\ndata: {}\n\n');
  });

  it("gets errors in its own shape, also before its handler runs", async () => {
    await using scripted = await echoApp();
    const bad = await post(scripted.app, { say: 5 });
    expect([bad.statusCode, bad.json()]).toEqual([
      400,
      { failed: "invalid_request", field: "say", id: "r1" },
    ]);
    const unknown = await post(scripted.app, { model: "other" });
    expect([unknown.statusCode, unknown.json()]).toMatchObject([404, { failed: "model_not_found" }]);
  });

  it("names a field that the engine refuses as its request does", async () => {
    await using scripted = await echoApp();
    const response = await post(scripted.app, { pattern: { not: {} } });
    expect([response.statusCode, response.json()]).toMatchObject([400, { field: "pattern" }]);
  });

  it("ends a stream with its own event when the engine fails", async () => {
    const failure = { code: "engine_failed" as const, message: "It broke." };
    await using scripted = await echoApp({ script: { pieces: ["a"], failure } });
    const response = await post(scripted.app, { stream: true });
    expect(response.body).toBe('data: "a"\n\nevent: failed\ndata: "engine_failed"\n\n');
  });

  it("is cancelled when its client leaves", async () => {
    const slow = { pieces: Array.from({ length: 1000 }, () => "x"), delayMs: 5 };
    await using scripted = await echoApp({ script: slow });
    const url = await scripted.app.listen({ port: 0, host: "127.0.0.1" });
    const leave = new AbortController();
    const response = await fetch(`${url}${echo.path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: scriptedId, say: "Hi", stream: true }),
      signal: leave.signal,
    });
    await response.body?.getReader().read();
    leave.abort();
    await expect.poll(() => scripted.log.cancelled).toEqual([1]);
  });

  it("is counted in the metrics and has a line in the log", async () => {
    const lines: unknown[] = [];
    const stream = new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    await using scripted = await echoApp({ script: { pieces: ["a"] }, logger: { level: "info", stream } });
    await post(scripted.app, {});
    expect(lines).toEqual([
      expect.objectContaining({
        route: echo.path,
        status: 200,
        model: scriptedId,
        completionTokens: 1,
        finishReason: "stop",
      }),
    ]);
    const metrics = await scripted.app.inject({ url: "/metrics" });
    expect(metrics.body).toMatch(/requests_total\{[^}]*route="\/v1\/echo"[^}]*\} 1/);
    expect(metrics.body).toMatch(
      /ttft[^\n]*_count\{[^}]*scripted-model[^}]*\} 1|time_to_first_token[^\n]*_count\{[^}]*\} 1/,
    );
  });

  it("stands in the API's description", async () => {
    await using scripted = await echoApp();
    const { paths } = (await scripted.app.inject({ url: "/openapi.json" })).json();
    expect(paths[echo.path].post.summary).toBe("A route of a test");
  });
});
