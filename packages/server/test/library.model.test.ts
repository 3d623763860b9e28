// A running server with a real engine and a hub on this machine: pull a model, use it beside the first one, remove it.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { FakeHub } from "@ingle/engine/testing/fake-hub";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, it } from "vitest";
import { main } from "../src/cli/main.ts";
import { testWorld } from "./cli-context.ts";

const id = "acme/other-GGUF:F32";
let user = "";
let hub: FakeHub;

beforeAll(async () => {
  user = await mkdtemp(path.join(tmpdir(), "ingle-server-library-"));
  const other = await readFile(await tinyModel({ seed: 7 }));
  hub = await FakeHub.start({ repo: "acme/other-GGUF", files: { "other-F32.gguf": other } });
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(user, { recursive: true });
});

it("a model that is pulled over HTTP can be named by the next request, and removed when it is not in memory", async () => {
  const env = { HOME: user, INGLE_HOME: path.join(user, "ingle"), HF_ENDPOINT: hub.url };
  const world = testWorld({ env });
  const file = await tinyModel({ seed: 6 });
  const flags = ["--port", "0", "--threads", "1", "--ctx", "256", "--model", file];
  const exit = main("ingle", ["serve", ...flags], world.context);
  await world.outHas("Ctrl-C");
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(world.out())?.[0] ?? "";
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
  expect(JSON.parse((await post("/v1/chat/completions", chat)).text)).toMatchObject({ model: id });
  const { data } = await (await fetch(`${url}/api/v1/models`)).json();
  expect(data).toMatchObject([{ status: "loaded" }, { id, status: "loaded", context_length: 256 }]);

  expect((await post("/api/v1/models/remove", { model: id })).status).toBe(400);
  expect((await post("/api/v1/models/unload", { model: id })).status).toBe(200);
  const removed = await post("/api/v1/models/remove", { model: id });
  expect(JSON.parse(removed.text)).toMatchObject({ id, removed: true });
  expect((await post("/v1/chat/completions", chat)).status).toBe(404);
  world.signals.emit("SIGINT");
  expect(await exit).toBe(0);
});
