// Keys that may do less: models that they do not see, on every route, and limits that they meet.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Script } from "@ingle/fixtures/scripted-addon";
import { makeKey, type KeyWish } from "../src/access/key-file.ts";
import { buildApp } from "../src/app.ts";
import type { ServerFlags } from "../src/config.ts";
import { ModelRegistry } from "../src/models/registry.ts";
import { openKeys } from "../src/open-keys.ts";
import { serve } from "../src/serve.ts";
import { fetchDocument } from "./documented.ts";
import { scriptedKnown } from "./harness/scripted-models.ts";
import { scriptedId, scriptedRegistry, testConfig } from "./harness/scripted-server.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-keys-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Writes a key file, and returns it with its keys. */
async function writeKeys(...wishes: KeyWish[]): Promise<{ file: string; keys: string[] }> {
  const made = await Promise.all(wishes.map(async (wish) => await makeKey(wish)));
  const file = path.join(folder, "keys.json");
  await writeFile(file, JSON.stringify({ version: 1, keys: made.map(({ entry }) => entry) }), {
    mode: 0o600,
  });
  return { file, keys: made.map(({ key }) => key) };
}

const tenant = { name: "tenant", scope: "inference" } as const;
const boss = { name: "boss", scope: "management" } as const;

describe("a model that a key may not use", () => {
  const all: ServerFlags = { ollamaApi: true, llamaServerApi: true, lmStudioApi: true };

  async function openApp(flags: ServerFlags, file: string): Promise<FastifyInstance & AsyncDisposable> {
    const config = testConfig({ ...all, batchStore: path.join(folder, "batches"), ...flags, keys: file });
    const registry = new ModelRegistry({
      waitingMax: 9,
      onLoading: "wait",
      source: {
        known: async () => [
          scriptedKnown("mine", { aliases: ["own"] }),
          scriptedKnown("theirs", { aliases: ["secret"] }),
        ],
      },
    });
    const stopped = new AbortController();
    const { ring } = await openKeys(config, {
      signal: stopped.signal,
      onWarning: () => {},
      onFailure: () => {},
    });
    const app = await buildApp(config, { registry, keys: ring, newId: () => "same", now: () => new Date(0) });
    await registry.load("theirs");
    return Object.assign(app, {
      [Symbol.asyncDispose]: async () => {
        stopped.abort();
        await app.close();
      },
    });
  }

  /** Every operation that an inference key may call, as a request that names a model wherever it can. */
  async function listAsks(app: FastifyInstance, key: string) {
    const { paths } = await fetchDocument(app);
    const operations = Object.entries(paths).flatMap(([url, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        url,
        method: method.toUpperCase(),
        operation,
      })),
    );
    return operations.map(({ url, method, operation }) => {
      const { example } = operation.requestBody?.content["application/json"] ?? {};
      return {
        operation: `${method} ${url}`,
        send: async (name: string) => {
          if (method !== "GET" && method !== "POST" && method !== "PUT" && method !== "DELETE")
            throw new Error(method);
          const response = await app.inject({
            method,
            url: `${url.replaceAll(/\{\w+\}/g, name)}?model=${name}`,
            headers: { authorization: `Bearer ${key}`, "x-request-id": "same" },
            ...(typeof example === "object" && example !== null
              ? { payload: { ...example, model: name, name } }
              : {}),
          });
          return { status: response.statusCode, body: response.body };
        },
      };
    });
  }

  it.each(["desktop", "developer"])(
    "is to it as one that is not there, by its id and by its alias, on every route of the %s variant",
    async (variant) => {
      const { file, keys } = await writeKeys({ ...tenant, models: ["mi*"] });
      await using app = await openApp({ variant }, file);
      const asks = await listAsks(app, keys[0] ?? "");
      expect(asks.length).toBeGreaterThan(60);
      const refused: string[] = [];
      for (const { operation, send } of asks) {
        const nobody = await send("nobody");
        for (const name of ["theirs", "secret"]) {
          const theirs = await send(name);
          const asNobody = { ...theirs, body: withoutTimes(theirs.body.replaceAll(name, "nobody")) };
          expect([operation, asNobody]).toEqual([operation, { ...nobody, body: withoutTimes(nobody.body) }]);
          if (theirs.status === 404 && theirs.body.includes("is not served here")) refused.push(operation);
        }
        expect([operation, nobody.body.includes("theirs")]).toEqual([operation, false]);
      }
      if (variant === "desktop") expect(new Set(refused).size).toBeGreaterThan(20);
    },
  );

  it("is there for other keys, and its own models are there for it", async () => {
    const { file, keys } = await writeKeys({ ...tenant, models: ["own"] }, boss);
    await using app = await openApp({}, file);
    const ids = async (key = "") => {
      const response = await app.inject({ url: "/v1/models", headers: { authorization: `Bearer ${key}` } });
      return (JSON.parse(response.body) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    expect(await ids(keys[0])).toEqual(["mine"]);
    expect(await ids(keys[1])).toEqual(["mine", "theirs"]);
    const chat = async (key = "", model = "") =>
      await app.inject({
        method: "POST",
        url: "/v1/chat/completions",
        headers: { authorization: `Bearer ${key}` },
        payload: { model, messages: [{ role: "user", content: "Hi" }] },
      });
    const statuses = [];
    for (const [key, model] of [
      [keys[0], "mine"],
      [keys[0], "own"],
      [keys[1], "theirs"],
      [keys[0], "theirs"],
    ])
      statuses.push((await chat(key, model)).statusCode);
    expect(statuses).toEqual([200, 200, 200, 404]);
  });

  /** Times of a response, which differ between two requests. */
  function withoutTimes(body: string): string {
    return body
      .replaceAll(/"[^"]*_(ms|at|seconds|duration|per_second)":("[^"]*"|[\d.]+)/g, '"$1":0')
      .replaceAll(/"(created|id)":("[^"]*"|\d+)/g, '"$1":0');
  }
});

describe("a limit", () => {
  async function startServer(file: string, script: Script = {}) {
    const config = testConfig({ keys: file, ollamaApi: true });
    const { registry, log } = await scriptedRegistry(script, config);
    const server = await serve(config, { logger: false, registry, lookEveryMs: 10 });
    const chat = async (key = "", body: object = {}) =>
      await fetch(`${server.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: scriptedId, messages: [{ role: "user", content: "Hi" }], ...body }),
      });
    const get = async (url: string, key = "") =>
      await (await fetch(server.url + url, { headers: { authorization: `Bearer ${key}` } })).text();
    return { server, log, chat, get, [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }) };
  }

  it("of tokens refuses the next requests of this key only, and says when to come back", async () => {
    const { file, keys } = await writeKeys({ ...tenant, tokens_per_minute: 5 }, boss);
    await using running = await startServer(file, { pieces: ["a", "b", "c", "d", "e", "f"] });
    const first = await running.chat(keys[0]);
    expect(first.headers.get("x-ratelimit-limit-tokens")).toBe("5");
    expect(first.headers.get("x-ratelimit-remaining-tokens")).toBe("5");
    const { usage } = (await first.json()) as { usage: { total_tokens: number } };
    expect(usage.total_tokens).toBeGreaterThan(5);
    const second = await running.chat(keys[0]);
    expect([second.status, second.headers.get("x-ratelimit-remaining-tokens")]).toEqual([429, "0"]);
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(50);
    expect(await second.json()).toMatchObject({
      error: { code: "rate_limited", message: expect.stringContaining("5 tokens a minute") },
    });
    expect((await running.chat(keys[1])).status).toBe(200);
    // What it may always do: nothing of this is computed.
    expect(await running.get("/v1/models", keys[0])).toContain(scriptedId);
  });

  it("of tokens counts what a client did not wait for", async () => {
    const { file, keys } = await writeKeys({ ...tenant, tokens_per_day: 3 });
    await using running = await startServer(file, {
      pieces: Array.from({ length: 10_000 }, () => "a"),
      delayMs: 5,
    });
    const response = await running.chat(keys[0], { stream: true });
    const reader = response.body?.getReader();
    let text = "";
    while (!text.includes('"a"')) text += new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    await expect.poll(async () => (await running.chat(keys[0])).status).toBe(429);
  });

  it("of parallel requests holds as long as they run", async () => {
    const { file, keys } = await writeKeys({ ...tenant, parallel_requests: 1 });
    await using running = await startServer(file, {
      pieces: Array.from({ length: 10_000 }, () => "a"),
      delayMs: 5,
    });
    const response = await running.chat(keys[0], { stream: true });
    const refused = await running.chat(keys[0]);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "2"]);
    await response.body?.cancel();
    await expect
      .poll(async () => {
        const next = await running.chat(keys[0], { stream: true });
        await next.body?.cancel();
        return next.status;
      })
      .toBe(200);
  });

  it("of time ends a key with a sentence that says so", async () => {
    const { file, keys } = await writeKeys({ ...tenant, expires_at: "2026-01-01T00:00:00Z" });
    await using running = await startServer(file);
    const response = await running.chat(keys[0]);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      error: { code: "unauthorized", message: expect.stringContaining("expired at 2026-01-01T00:00:00Z") },
    });
  });

  it("is followed when the file changes, and what was used stays", async () => {
    const { file, keys } = await writeKeys(tenant);
    await using running = await startServer(file);
    expect((await running.chat(keys[0])).status).toBe(200);
    const { keys: entries } = JSON.parse(await readFile(file, "utf8")) as { keys: object[] };
    await writeFile(
      file,
      JSON.stringify({ version: 1, keys: entries.map((entry) => ({ ...entry, tokens_per_day: 1 })) }),
    );
    await expect.poll(async () => (await running.chat(keys[0])).status).toBe(429);
    await writeFile(file, JSON.stringify({ version: 1, keys: [] }));
    await expect.poll(async () => (await running.chat(keys[0])).status).toBe(401);
  });

  it("of priority reaches the engine, and what each key has used is told by its name", async () => {
    const { file, keys } = await writeKeys({ ...tenant, priority: "low" }, boss);
    await using running = await startServer(file, { pieces: ["a", "b"] });
    for (const key of keys) await running.chat(key);
    expect(running.log.requests.map(({ priority }) => priority)).toEqual([-1, 0]);
    const list = JSON.parse(await running.get("/api/v1/server/keys", keys[1])) as { data: object[] };
    expect(list.data).toMatchObject([
      { name: "tenant", priority: "low", usage: { requests: 1, completion_tokens: 2 } },
      { name: "boss", usage: { requests: 1 } },
    ]);
    expect(JSON.stringify(list)).not.toContain("scrypt");
    expect(await running.get("/metrics", keys[1])).toContain(
      'ingle_key_completion_tokens_total{key="tenant"} 2',
    );
  });
});
