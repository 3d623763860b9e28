import { request as httpRequest } from "node:http";
import type { LiveRequest } from "@ingle/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { expectDocumented } from "../../../test/documented.ts";
import type { RunningServer } from "../../serve.ts";
import { EventReader } from "../../../test/harness/event-reader.ts";
import { gate, scriptedKnown } from "../../../test/harness/scripted-models.ts";
import { scriptedId, scriptedServer, type ScriptedOptions } from "../../../test/harness/scripted-server.ts";

const prompt = "a secret prompt";
const pieces = Array.from({ length: 2_000 }, (_, index) => (index === 0 ? "a secret reply" : " word"));
/** Ends long after every test. */
const endless: ScriptedOptions["script"] = { pieces, delayMs: 50 };
const key = "a-secret-key-of-the-server";
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };

const quiet = { level: "silent" as const, stream: { write: () => true } };

let current: Awaited<ReturnType<typeof scriptedServer>> | undefined;
afterEach(async () => {
  await current?.[Symbol.asyncDispose]();
  current = undefined;
});

async function started(options: Parameters<typeof scriptedServer>[0]): Promise<RunningServer> {
  current = await scriptedServer({
    logger: quiet,
    ...options,
    flags: { adminKey: [key], ...options?.flags },
  });
  return current.server;
}

function post(server: RunningServer, path: string, body: object, more: object = {}): Promise<Response> {
  return fetch(server.url + path, {
    method: "POST",
    headers: { ...headers, ...more },
    body: JSON.stringify(body),
  });
}

const messages = [{ role: "user", content: prompt }];
const chat = { model: scriptedId, messages };
const isGenerating = ({ status }: LiveRequest): boolean => status === "generating";

/** Each route with a request that runs until it is cancelled, and its protocol's error in a stream. */
const routes: [path: string, body: object, error: RegExp][] = [
  ["/v1/chat/completions", chat, /data: \{"error":\{"message":"[^"]+","type":"cancelled_error",.*\n\n$/],
  [
    "/v1/completions",
    { model: scriptedId, prompt, max_tokens: 5_000 },
    /data: \{"error":.*"code":"cancelled".*\n\n$/,
  ],
  [
    "/v1/messages",
    { ...chat, max_tokens: 5_000 },
    /event: error\ndata: \{"type":"error",.*"cancelled".*\n\n$/,
  ],
  [
    "/v1/responses",
    { model: scriptedId, input: prompt },
    /event: error\ndata: \{"type":"error","code":"cancelled".*\n\n$/,
  ],
];

describe("a request", () => {
  it("is in the events while it runs and afterwards, without its text or key", async () => {
    const server = await started({ script: { pieces: pieces.slice(0, 40), delayMs: 50 } });
    await using events = new EventReader(server.url, headers);
    const response = post(server, "/v1/chat/completions", chat, { "x-request-id": "mine" });
    const row = await events.row(isGenerating);
    expect(row).toMatchObject({
      id: "mine",
      method: "POST",
      path: "/v1/chat/completions",
      model: scriptedId,
      client: "127.0.0.1",
      key: "--admin-key",
      http_status: null,
      prompt_tokens: `user: ${prompt}`.length,
      cached_tokens: null,
      can_cancel: true,
      body: null,
      answer: null,
    });
    expect(await (await response).json()).toMatchObject({ usage: { completion_tokens: 40 } });
    const done = await events.row(({ status }) => status === "done");
    expect(done).toMatchObject({
      http_status: 200,
      cached_tokens: 0,
      completion_tokens: 40,
      tokens_per_second: expect.any(Number),
      can_cancel: false,
    });
    expect(done.seconds).toBeGreaterThan(1);
    const line = await events.line("/v1/chat/completions");
    expect(line).toMatchObject({
      level: "info",
      message: "request",
      details: { requestId: "mine", status: 200 },
    });
    expect((await events.until(({ figures }) => figures.cached_share !== null)).figures.cached_share).toBe(0);
    expect(events.text).not.toContain("secret");
  });

  it("of any protocol, valid or not, leaves no text and no key in events and log", async () => {
    const server = await started({ script: { pieces: ["a secret reply"] } });
    await using events = new EventReader(server.url, headers);
    const bodies = (body: object): object[] => [
      body,
      { ...body, stream: true },
      { ...body, model: "a secret model" },
      { ...body, max_tokens: "a secret number", max_output_tokens: "a secret number" },
    ];
    const asked = [...routes, ["/v1/embeddings", { model: scriptedId, input: prompt }] as const].flatMap(
      ([path, body]) => bodies(body).map((each) => [path, each] as const),
    );
    for (const [path, body] of asked) await (await post(server, path, body)).text();
    await (
      await post(server, "/v1/chat/completions", chat, { authorization: "Bearer another-secret-key" })
    ).text();
    await (await post(server, "/api/v1/requests/cancel", { id: "nobody" })).text();
    await events.line("/api/v1/requests/cancel"); // the last line, so all earlier ones are there
    const { requests } = await events.until((state) => state.requests.length === asked.length);
    expect(new Set(requests.map(({ status }) => status))).toEqual(new Set(["done", "failed"]));
    expect(events.lines.length).toBeGreaterThan(asked.length);
    expect(events.text).not.toContain("secret");
  });

  it("that is refused, fails or loses its client has that status", async () => {
    const server = await started({ script: { ...endless, pieces: pieces.slice(0, 60) } });
    await using events = new EventReader(server.url, headers);
    await post(server, "/v1/chat/completions", { ...chat, model: "nobody" });
    expect(await events.row(({ status }) => status === "failed")).toMatchObject({
      http_status: 404,
      model: null,
    });
    const leaving = new AbortController();
    const left = fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...chat, stream: true }),
      signal: leaving.signal,
    });
    await events.row(isGenerating);
    await left;
    leaving.abort();
    expect(await events.row(({ status }) => status === "cancelled")).toMatchObject({ http_status: 499 });
  });

  it("for embeddings is in the events too", async () => {
    const server = await started({});
    await using events = new EventReader(server.url, headers);
    await post(server, "/v1/embeddings", { model: scriptedId, input: prompt });
    expect(await events.row(({ status }) => status === "done")).toMatchObject({
      path: "/v1/embeddings",
      prompt_tokens: prompt.length,
      completion_tokens: 0,
      tokens_per_second: null,
    });
  });

  it("cannot be cancelled or read without the right to manage", async () => {
    const inference = "a-key-that-may-only-use-models";
    const server = await started({ script: endless, flags: { apiKey: [inference] } });
    const weak = { authorization: `Bearer ${inference}` };
    for (const [path, body] of [
      ["/api/v1/requests/cancel", { id: "mine" }],
      ["/api/v1/requests/bodies", { keep: true }],
    ] as const) {
      expect((await post(server, path, body, weak)).status).toBe(403);
      expect((await post(server, path, body, { authorization: "" })).status).toBe(401);
    }
    await using events = new EventReader(server.url, headers);
    await post(server, "/v1/chat/completions", chat, { authorization: "Bearer wrong" });
    expect(await events.until(() => true)).toMatchObject({ requests: [], keeps_bodies: false });
  });
});

describe("cancelling", () => {
  it.each(routes)("ends a stream of %s with its protocol's error event", async (path, body, error) => {
    const server = await started({ script: endless });
    await using events = new EventReader(server.url, headers);
    const response = await post(server, path, { ...body, stream: true });
    expect(response.status).toBe(200);
    const { id } = await events.row(isGenerating);
    const cancelled = await post(server, "/api/v1/requests/cancel", { id });
    expect(await cancelled.json()).toMatchObject({
      id,
      status: "cancelled",
      http_status: 410,
      can_cancel: false,
    });
    const text = await response.clone().text();
    await expectDocumented(server.url, `POST ${path}`, response);
    expect(text).toMatch(error);
    expect(text).not.toContain("[DONE]");
    expect(current?.log.running.size).toBe(0);
  });

  it.each(routes)("returns 410 for %s before its reply", async (path, body) => {
    const server = await started({ script: endless });
    await using events = new EventReader(server.url, headers);
    const response = post(server, path, body);
    const { id } = await events.row(isGenerating);
    await post(server, "/api/v1/requests/cancel", { id });
    expect((await response).status).toBe(410);
    const [error] = await expectDocumented(server.url, `POST ${path}`, await response);
    expect(error).toMatchObject({ error: { code: "cancelled" } });
    expect(current?.log.running.size).toBe(0);
  });

  it("ends a request whose template is still being applied, and one whose body is still being received", async () => {
    const server = await started({ script: { endlessTemplate: true } });
    await using events = new EventReader(server.url, headers);
    const preparing = post(server, "/v1/chat/completions", chat);
    const { id } = await events.row(({ status }) => status === "prompt");
    await post(server, "/api/v1/requests/cancel", { id });
    expect((await preparing).status).toBe(410);

    const slow = httpRequest(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...headers, "content-length": 1_000, "x-request-id": "slow" },
    });
    const status = new Promise((resolve, reject) => {
      slow.on("response", ({ statusCode }) => resolve(statusCode));
      slow.on("error", reject);
    });
    slow.write("{");
    expect(await events.row((row) => row.id === "slow")).toMatchObject({ status: "waiting", model: null });
    await post(server, "/api/v1/requests/cancel", { id: "slow" });
    expect(await status).toBe(410);
    slow.destroy();
  });

  it("ends a request that waits for its model to load", async () => {
    const server = await started({});
    const loading = gate();
    const slow = scriptedKnown("slow");
    slow.gate = loading.closed;
    server.registry.add(slow);
    await using events = new EventReader(server.url, headers);
    const waiting = post(server, "/v1/chat/completions", { ...chat, model: "slow" });
    const { id } = await events.row(({ status }) => status === "waiting");
    const cancelled = await post(server, "/api/v1/requests/cancel", { id });
    expect(await cancelled.json()).toMatchObject({ status: "cancelled", prompt_tokens: null });
    expect((await waiting).status).toBe(410);
    loading.open();
  });

  it("disconnects a client that does not read", async () => {
    const large = "x".repeat(1024 * 1024);
    const server = await started({ script: { pieces: Array.from({ length: 200 }, () => large) } });
    await using events = new EventReader(server.url, headers);
    const deaf = httpRequest(`${server.url}/v1/chat/completions`, { method: "POST", headers });
    deaf.on("response", (response) => response.pause());
    deaf.on("error", () => {}); // it is disconnected
    deaf.end(JSON.stringify({ ...chat, stream: true }));
    const { id } = await events.row(isGenerating);
    const response = await post(server, "/api/v1/requests/cancel", { id });
    expect(await response.json()).toMatchObject({ status: "cancelled" });
    deaf.destroy();
  });

  it("of an unknown request is a 404, also the second time", async () => {
    const server = await started({});
    for (const id of ["nobody", "nobody"]) {
      const response = await post(server, "/api/v1/requests/cancel", { id });
      expect([response.status, await response.json()]).toMatchObject([
        404,
        { error: { code: "not_found", param: "id" } },
      ]);
    }
  });
});

describe("bodies", () => {
  it.each([true, false])(
    "are in the events while they are kept, and deleted at once (stream: %s)",
    async (stream) => {
      const server = await started({ script: { pieces: ["a secret reply"] } });
      await using events = new EventReader(server.url, headers);
      const switched = await post(server, "/api/v1/requests/bodies", { keep: true });
      expect(await switched.json()).toEqual({ keeps_bodies: true });
      const response = await post(server, "/v1/chat/completions", { ...chat, stream });
      const text = await response.text();
      const { requests } = await events.until(
        (state) => state.keeps_bodies && state.requests.some(({ status }) => status === "done"),
      );
      expect(requests).toMatchObject([{ body: JSON.stringify({ ...chat, stream }), answer: text }]);
      await post(server, "/api/v1/requests/bodies", { keep: false });
      const off = await events.until((state) => !state.keeps_bodies);
      expect(off.requests).toMatchObject([{ body: null, answer: null }]);
      expect(JSON.stringify(events.lines)).not.toContain("secret");
      expect(events.text).not.toContain(key);
    },
  );

  it("of a growing response are shown as it grows, and stay deleted when they are switched off and on", async () => {
    const server = await started({ script: endless });
    await using events = new EventReader(server.url, headers);
    await post(server, "/api/v1/requests/bodies", { keep: true });
    const response = await post(server, "/v1/chat/completions", { ...chat, stream: true });
    const { id } = await events.row((row) => row.answer?.includes("a secret reply") === true);
    await post(server, "/api/v1/requests/bodies", { keep: false });
    await post(server, "/api/v1/requests/bodies", { keep: true });
    const before = (await events.row(isGenerating)).completion_tokens;
    const later = await events.row((row) => row.completion_tokens > before);
    expect(later).toMatchObject({ body: null, answer: null });
    await post(server, "/api/v1/requests/cancel", { id });
    await response.text();
  });

  it("contain the error response, before a stream and inside it", async () => {
    const failure = { code: "engine_failed" as const, message: "The device is gone." };
    for (const [script, status] of [
      [{ pieces: [], failure }, 500],
      [{ pieces: ["one"], failure }, 200],
    ] as const) {
      const server = await started({ script });
      await using events = new EventReader(server.url, headers);
      await post(server, "/api/v1/requests/bodies", { keep: true });
      const response = await post(server, "/v1/chat/completions", { ...chat, stream: true });
      expect(response.status).toBe(status);
      const text = await response.text();
      const row = await events.row((each) => each.status === "failed");
      expect(row).toMatchObject({ http_status: 500, answer: text });
      expect(text).toContain("The device is gone.");
      await current?.[Symbol.asyncDispose]();
    }
  });

  it("are only switched by an explicit value", async () => {
    const server = await started({});
    const response = await post(server, "/api/v1/requests/bodies", {});
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: "keep" } }]);
  });
});
