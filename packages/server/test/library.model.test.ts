// A running server with a real engine and a local hub: download a model, use it next to the first one, remove it.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Ingle } from "@ingle/client";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { tinyModel } from "@ingle/fixtures";
import { ErrorBody } from "@ingle/protocol";
import { afterAll, beforeAll, expect, it } from "vitest";
import { main } from "../src/cli/main.ts";
import { testWorld } from "./cli-context.ts";
import { chatTemplate } from "./real-server.ts";

const id = "acme/other-GGUF:F32";
let user = "";
let hub: FakeHub;

beforeAll(async () => {
  user = await mkdtemp(path.join(tmpdir(), "ingle-server-library-"));
  const other = await readFile(
    await tinyModel({ seed: 7, chatTemplate: await chatTemplate("Qwen-Qwen3-0.6B") }),
  );
  hub = await FakeHub.start({ repo: "acme/other-GGUF", files: { "other-F32.gguf": other } });
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(user, { recursive: true });
});

/** `ingle serve` with a tiny model and its own home folder. */
async function served(endpoint = hub.url): Promise<{ url: string } & AsyncDisposable> {
  const home = await mkdtemp(path.join(user, "home-"));
  const world = testWorld({ env: { HOME: home, INGLE_HOME: home, HF_ENDPOINT: endpoint } });
  const flags = ["--port", "0", "--threads", "1", "--ctx", "256", "--model", await tinyModel({ seed: 6 })];
  const exit = main("ingle", ["serve", ...flags], world.context);
  await world.outHas("Ctrl-C");
  return {
    url: /http:\/\/127\.0\.0\.1:\d+/.exec(world.out())?.[0] ?? "",
    [Symbol.asyncDispose]: async () => {
      world.signals.emit("SIGINT");
      expect(await exit).toBe(0);
    },
  };
}

it("the next request can use a downloaded model, and it can be removed when it is not in memory", async () => {
  await using server = await served();
  const { url } = server;
  const post = async (route: string, body: object): Promise<{ status: number; text: string }> => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const reply = await fetch(url + route, init);
    return { status: reply.status, text: await reply.text() };
  };
  const chat = { model: id, max_tokens: 3, messages: [{ role: "user", content: "Hi" }] };

  expect((await post("/v1/chat/completions", chat)).status).toBe(404);
  const pulled = await post("/api/v1/models/pull", { model: "acme/other-GGUF" });
  expect(pulled.text).toMatch(/"status":"download"[^]*"status":"done","model":"acme\/other-GGUF:F32"/);
  const unread = await new Ingle({ baseUrl: url }).models.retrieve(id);
  expect(unread).toMatchObject({ status: "available", context_length: null, context_length_train: 2048 });
  expect(unread.capabilities).toEqual(["tools", "thinking"]);
  expect(JSON.parse((await post("/v1/chat/completions", chat)).text)).toMatchObject({ model: id });
  const { data } = await (await fetch(`${url}/api/v1/models`)).json();
  expect(data).toMatchObject([{ status: "loaded" }, { id, status: "loaded", context_length: 256 }]);

  expect((await post("/api/v1/models/remove", { model: id })).status).toBe(400);
  expect((await post("/api/v1/models/unload", { model: id })).status).toBe(200);
  const removed = await post("/api/v1/models/remove", { model: id });
  expect(JSON.parse(removed.text)).toMatchObject({ id, removed: true });
  expect((await post("/v1/chat/completions", chat)).status).toBe(404);
});

it("the client finds a model, downloads it, adds an alias, loads, unloads and removes it", async () => {
  await using server = await served();
  const { library, chat } = new Ingle({ baseUrl: server.url, maxRetries: 0 });
  const found = await library.search("other", { limit: 1 });
  expect(found.data).toEqual([expect.objectContaining({ repo: "acme/other-GGUF", gated: false })]);
  const offered = await library.describe("acme/other-GGUF");
  expect(offered).toMatchObject({ architecture: "llama", context_length: 2048, embeddings: false });
  expect(offered.models).toMatchObject([{ id, quantization: "F32", projector: false, fits: true }]);

  const pull = await library.pull("acme/other-GGUF");
  const seen = new Set<string>();
  for await (const { status } of pull) seen.add(status);
  expect([...seen]).toEqual(expect.arrayContaining(["download", "done"]));
  const { model, bytes } = await pull.finalEvent();
  expect([model, bytes]).toEqual([id, offered.models[0]?.size_bytes]);

  expect(await library.setAlias("daily", id)).toEqual({ id, aliases: ["daily"] });
  expect(await library.load("daily")).toMatchObject({ id, aliases: ["daily"], status: "loaded" });
  const messages = [{ role: "user" as const, content: "Hi" }];
  expect(await chat.completions.create({ model: "daily", messages, max_tokens: 2 })).toMatchObject({
    model: id,
  });
  await expect(library.remove("daily")).rejects.toMatchObject({ code: "invalid_request" });
  expect(await library.unload("daily")).toMatchObject({ status: "available" });
  expect(await library.removeAlias("daily")).toEqual({ id, aliases: [] });
  await expect(library.load("daily")).rejects.toMatchObject({ code: "model_not_found" });
  expect(await library.remove(id)).toMatchObject({ id, removed: true });
  expect((await library.list()).data.map(({ status }) => status)).toEqual(["loaded"]);
  await expect(library.setAlias("daily", id)).rejects.toMatchObject({ code: "model_not_found" });
  await expect(library.setAlias("a/b", id)).rejects.toMatchObject({
    code: "invalid_request",
    param: "alias",
  });
  await expect(library.describe("../api")).rejects.toMatchObject({ code: "invalid_request", param: "repo" });
});

it("a download whose client disconnects resumes where it stopped", async () => {
  await using server = await served();
  const { library } = new Ingle({ baseUrl: server.url, maxRetries: 0 });
  hub.slowly = { bytes: 16_384, delayMs: 5 };
  await using left = await library.pull("acme/other-GGUF");
  for await (const { bytes } of left) if (bytes > 0) break;
  await expect(left.finalEvent()).rejects.toMatchObject({ name: "StreamError", code: "stream_aborted" });
  hub.slowly = { bytes: 0, delayMs: 0 };
  expect(await (await library.pull("acme/other-GGUF")).finalEvent()).toMatchObject({
    status: "done",
    model: id,
  });
});

it("a hub that cannot be reached, or that answers with an error, is a 502 that says which one and what to check", async () => {
  const { url: closed } = await closedPort();
  await using silent = await served(closed);
  const reply = await fetch(`${silent.url}/api/v1/models/search?q=tiny`);
  expect(reply.status).toBe(502);
  expect(ErrorBody.parse(await reply.json()).error).toMatchObject({
    code: "hub_unreachable",
    type: "unavailable_error",
    message: expect.stringContaining(closed),
  });
  // What is installed still works, and a download fails with the same code.
  const pulled = await fetch(`${silent.url}/api/v1/models/pull`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/other-GGUF" }),
  });
  expect(await pulled.text()).toContain('"code":"hub_unreachable"');
});

/** An address at which nothing listens. */
async function closedPort(): Promise<{ url: string }> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return { url: `http://127.0.0.1:${port}` };
}
