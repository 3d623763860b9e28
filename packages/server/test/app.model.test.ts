// The app with a real (tiny) model and real sockets: its page's address, and the /v1 server that is started there, used by a
// third-party client.
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Ingle } from "@ingle/client";
import { load } from "@ingle/engine";
import { exactArithmetic, tinyModel, until } from "@ingle/fixtures";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDesktopApp, type DesktopApp } from "../src/desktop-app.ts";
import type { ModelSource } from "../src/models/catalog/known-model.ts";
import { EventReader } from "./harness/event-reader.ts";
import { user } from "./real-server.ts";

const model = "tiny";
let configDir: string;
let app: DesktopApp;
let page: Ingle;
let loads = 0;

async function source(): Promise<ModelSource> {
  const file = await tinyModel({ weights: "f32" });
  const prepare = async () => ({
    byMemory: {},
    load: async () => {
      loads += 1;
      return await load(file, { threads: 1, contextLength: 2048, parallel: 4, ...exactArithmetic });
    },
  });
  return { known: async () => [{ id: model, prepare }] };
}

beforeAll(async () => {
  configDir = await mkdtemp(path.join(tmpdir(), "ingle-app-"));
  const models = await source();
  app = await openDesktopApp({
    env: {},
    port: 0,
    configDir,
    source: () => models,
    logger: { level: "silent", stream: { write: () => true } },
    onWarning: () => {},
  });
  page = new Ingle({ baseUrl: app.url, apiKey: app.token, maxRetries: 0 });
});
afterAll(async () => {
  await app.close({ deadlineMs: 0 });
  await rm(configDir, { recursive: true, force: true });
});

function openai(url: string | null, apiKey = "none"): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

async function takenPort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}

const question = { model, messages: user("Tell me about rivers."), temperature: 0, max_tokens: 24 };

it("the page chats before a server runs, and the server then returns the same from the same model", async () => {
  const here = await page.chat.completions.create(question);
  expect(await page.serverControl.get()).toMatchObject({ status: "stopped", url: null });
  await using taken = await takenPort();
  await page.serverControl.change({ port: taken.port, models: [model] });
  const { status, url, moved_from_port: moved } = await page.serverControl.start();
  expect([status, moved, url]).toEqual([
    "running",
    taken.port,
    expect.not.stringContaining(String(taken.port)),
  ]);
  const client = openai(url);
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual([model]);
  const there = await client.chat.completions.create(question);
  expect(there.choices[0]?.message.content).toBe(here.choices[0]?.message.content);
  const streamed = await client.chat.completions.create({ ...question, stream: true });
  let text = "";
  for await (const chunk of streamed) text += chunk.choices[0]?.delta.content ?? "";
  expect(text).toBe(here.choices[0]?.message.content);
  expect(loads).toBe(1);
  await page.serverControl.stop();
});

it("stopping lets a running reply finish, refuses new requests, and leaves the model to the page", async () => {
  const { url } = await page.serverControl.start();
  const client = openai(url);
  const stream = await client.chat.completions.create({ ...question, max_tokens: 400, stream: true });
  const chunks = stream[Symbol.asyncIterator]();
  await chunks.next();
  expect((await page.serverControl.get()).open_requests).toBe(1);
  const stopped = page.serverControl.stop();
  await until(() => app.server.view().status === "stopping");
  await expect(client.chat.completions.create(question)).rejects.toThrow();
  let reason: string | null | undefined;
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
    reason = next.value.choices[0]?.finish_reason ?? reason;
  expect(reason).toBe("length");
  expect(await stopped).toMatchObject({ status: "stopped", url: null, open_requests: 0 });
  await expect(fetch(`${url}/livez`)).rejects.toThrow();
  expect((await page.chat.completions.create(question)).choices[0]?.finish_reason).toBe("length");
  expect(loads).toBe(1);
});

it("creating and revoking keys applies from the next request on", async () => {
  const { url } = await page.serverControl.start();
  const made = await page.serverControl.createKey({ name: "editor", scope: "inference" });
  await expect(openai(url).models.list()).rejects.toMatchObject({ status: 401 });
  const client = openai(url, made.key);
  expect((await client.models.list()).data).toHaveLength(1);
  expect((await page.serverControl.keys()).data).toMatchObject([
    { name: "editor", ending: made.key.slice(-4) },
  ]);
  const running = await client.chat.completions.create({ ...question, stream: true });
  expect((await page.serverControl.revokeKey(made.id)).data).toEqual([]);
  await expect(client.models.list()).rejects.toMatchObject({ status: 401 });
  let chunks = 0;
  for await (const _ of running) chunks += 1; // an admitted request continues
  expect(chunks).toBeGreaterThan(1);
  await expect(openai(url, app.token).models.list()).rejects.toMatchObject({ status: 401 });
  await page.serverControl.stop();
});

it("after the last key is revoked, every request is refused until the server starts again", async () => {
  for (const isKeyFirst of [true, false]) {
    const before = isKeyFirst
      ? await page.serverControl.createKey({ name: "one", scope: "management" })
      : null;
    const { url } = await page.serverControl.start();
    const { id, key } = before ?? (await page.serverControl.createKey({ name: "one", scope: "management" }));
    expect((await openai(url, key).models.list()).data).toHaveLength(1);
    await page.serverControl.revokeKey(id);
    expect(await page.serverControl.get()).toMatchObject({ needs_key: true });
    await expect(openai(url, key).models.list()).rejects.toMatchObject({ status: 401 });
    for (const route of ["/v1/models", "/api/v1/state", "/api/v1/server"]) {
      expect((await fetch(`${url}${route}`)).status).toBe(401);
      expect((await fetch(`${url}${route}`, { headers: { "x-api-key": key } })).status).toBe(401);
    }
    await page.serverControl.stop();
    const again = await page.serverControl.start();
    expect(again.needs_key).toBe(false);
    await page.serverControl.stop();
  }
});

it("the page lists and cancels requests to the server, by the name of their key, and shows its log", async () => {
  const { url } = await page.serverControl.start();
  const { id: keyId, key } = await page.serverControl.createKey({ name: "editor", scope: "inference" });
  await using events = new EventReader(app.url, { authorization: `Bearer ${app.token}` });
  const long = { ...question, max_tokens: 1_500, messages: user("a secret question") };
  const headers = { "x-request-id": "mine" };
  const stream = await openai(url, key).chat.completions.create({ ...long, stream: true }, { headers });
  const chunks = stream[Symbol.asyncIterator]();
  await chunks.next();
  const cancelled = await page.requests.cancel("mine");
  expect(cancelled).toMatchObject({ model, key: "editor", status: "cancelled", http_status: 410 });
  expect(cancelled.prompt_tokens).toBeGreaterThan(0);
  const readOn = async () => {
    while ((await chunks.next()).done !== true);
  };
  await expect(readOn()).rejects.toMatchObject({ code: "cancelled" });

  await openai(url, key).chat.completions.create(question);
  await openai(url, key).chat.completions.create(question);
  const done = await events.row(
    ({ status, cached_tokens: cached }) => status === "done" && (cached ?? 0) > 0,
  );
  const { figures } = await events.until((state) => (state.figures.cached_share ?? 0) > 0);
  expect(done.cached_tokens).toBeLessThanOrEqual(done.prompt_tokens ?? 0);
  expect(figures.cached_share).toBeLessThan(1);
  expect(await events.row(({ id }) => id === "mine")).toEqual(cancelled);
  expect(await events.line("mine")).toMatchObject({ level: "info", details: { code: "cancelled" } });
  expect(events.text).not.toContain("secret");
  expect(events.text).not.toContain(key);
  await page.serverControl.revokeKey(keyId);
  await page.serverControl.stop();
});

it("a missing model prevents the server's start, and the error names it", async () => {
  await page.serverControl.change({ models: ["nobody"] });
  expect(await page.serverControl.start()).toMatchObject({
    status: "failed",
    error: expect.stringContaining("The model nobody could not be loaded"),
  });
  await page.serverControl.change({ models: [] });
  expect(await page.serverControl.start()).toMatchObject({ status: "running" });
  await page.serverControl.stop();
});
