// The ollama package with `ingle serve`, a library and a hub on this machine: downloads, digests, removal, models that think, and
// who is refused.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import path from "node:path";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { tinyModel } from "@ingle/fixtures";
import { Ollama, type ProgressResponse } from "ollama";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { testWorld } from "../cli-context.ts";
import { exchange, requestText } from "../raw-http.ts";
import { chatTemplate } from "../real-server.ts";

const id = "acme/other-GGUF:F32";
const messages = [{ role: "user", content: "Hi" }];
const greedy = { temperature: 0, num_predict: 8 };

let user = "";
let hub: FakeHub;
let file: Buffer;
beforeAll(async () => {
  user = await mkdtemp(path.join(tmpdir(), "ingle-ollama-"));
  file = await readFile(await tinyModel({ seed: 7 }));
  hub = await FakeHub.start({ repo: "acme/other-GGUF", files: { "other-F32.gguf": file } });
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(user, { recursive: true });
});

/** `ingle serve --ollama-api` with this model and its own home folder. */
async function served(model: string): Promise<{ ollama: Ollama; url: string } & AsyncDisposable> {
  const home = await mkdtemp(path.join(user, "home-"));
  const world = testWorld({ env: { HOME: home, INGLE_HOME: home, HF_ENDPOINT: hub.url } });
  const flags = ["--ollama-api", "--port", "0", "--threads", "1", "--ctx", "512", "--model", model];
  const exit = main("ingle", ["serve", ...flags], world.context);
  await world.outHas("Ctrl-C");
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(world.out())?.[0] ?? "";
  return {
    url,
    ollama: new Ollama({ host: url }),
    [Symbol.asyncDispose]: async () => {
      world.signals.emit("SIGINT");
      expect(await exit).toBe(0);
    },
  };
}

it("downloads a model with progress, replies with it, and removes it from memory and disk", async () => {
  await using server = await served(await tinyModel({ seed: 6 }));
  const { ollama } = server;
  hub.slowly = { bytes: 65_536, delayMs: 20 };
  const seen: ProgressResponse[] = [];
  for await (const each of await ollama.pull({ model: "hf.co/acme/other-GGUF", stream: true }))
    seen.push(each);
  hub.slowly = { bytes: 0, delayMs: 0 };
  expect([seen[0]?.status, seen.at(-1)?.status]).toEqual(["pulling manifest", "success"]);
  const downloads = seen.filter(({ status }) => status === `pulling ${id}`);
  expect(downloads.length).toBeGreaterThan(1);
  expect(new Set(downloads.map(({ digest }) => digest)).size).toBe(1);
  for (const { digest, total, completed } of downloads) {
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(total).toBe(file.length);
    expect(completed).toBeLessThanOrEqual(total);
  }

  const downloaded = (await ollama.list()).models.find(({ name }) => name === id);
  const reply = await ollama.chat({ model: id, messages, options: greedy });
  expect(reply).toMatchObject({ done: true, eval_count: 8 });
  const sha256 = createHash("sha256").update(file).digest("hex");
  const { models } = await ollama.list();
  expect(models.find(({ name }) => name === id)).toMatchObject({
    digest: sha256,
    size: file.length,
    modified_at: downloaded?.modified_at,
  });
  const others = models.filter(({ name }) => name !== id);
  expect(others).toMatchObject([{ digest: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
  expect(others[0]?.digest).not.toBe(sha256);

  expect(await ollama.delete({ model: id })).toMatchObject({ status: "success" });
  expect((await ollama.list()).models).toHaveLength(1);
  await expect(ollama.chat({ model: id, messages })).rejects.toMatchObject({ status_code: 404 });
});

it("responds once to a pull that is not streamed, and fails for a repository that the hub does not have", async () => {
  await using server = await served(await tinyModel({ seed: 6 }));
  expect(await server.ollama.pull({ model: id })).toMatchObject({ status: "success" });
  await expect(server.ollama.pull({ model: "nobody/nothing" })).rejects.toThrow(/nobody\/nothing/);
});

describe("think", () => {
  it("is refused where the model's file shows no thinking, unless it is false", async () => {
    await using server = await served(await tinyModel({ seed: 6 }));
    const { ollama } = server;
    const model = (await ollama.list()).models[0]?.name ?? "";
    const refused = { status_code: 400, message: `"${model}" does not support thinking` };
    await expect(ollama.chat({ model, messages, think: true })).rejects.toMatchObject(refused);
    await expect(ollama.generate({ model, prompt: "Hi", think: "high" })).rejects.toMatchObject(refused);
    expect((await ollama.chat({ model, messages, think: false, options: greedy })).eval_count).toBe(8);
  });

  it("decides whether a model thinks whose template can", async () => {
    const template = await chatTemplate("Qwen3.5-4B");
    await using server = await served(await tinyModel({ vocabulary: "qwen2", chatTemplate: template }));
    const { ollama } = server;
    const model = (await ollama.list()).models[0]?.name ?? "";
    expect((await ollama.show({ model })).capabilities).toContain("thinking");
    const { message: thought } = await ollama.chat({ model, messages, think: true, options: greedy });
    expect(thought.thinking).not.toBe("");
    expect([typeof thought.thinking, thought.content]).toEqual(["string", ""]);
    const { message: said } = await ollama.chat({ model, messages, think: false, options: greedy });
    expect(said.thinking).toBeUndefined();
    expect(said.content).not.toBe("");
    let streamed = "";
    const request = { model, messages, think: true, options: greedy, stream: true as const };
    for await (const { message } of await ollama.chat(request)) streamed += message.thinking ?? "";
    expect(streamed).toBe(thought.thinking);
  });
});

it("refuses other hosts and the pages of other sites on every route", async () => {
  await using server = await served(await tinyModel({ seed: 6 }));
  const port = Number(new URL(server.url).port);
  const routes = ["GET /api/tags", "GET /api/ps", "GET /api/version"];
  const posts = ["chat", "generate", "embed", "embeddings", "show", "pull"].map(
    (name) => `POST /api/${name}`,
  );
  const ask = async (route: string, headers: string[]): Promise<number> => {
    const all = ["Content-Type: application/json", "Content-Length: 2", ...headers];
    return (await exchange(port, requestText(route, all, "{}"))).status;
  };
  for (const route of [...routes, ...posts, "DELETE /api/delete"]) {
    expect([route, await ask(route, ["Host: evil.example"])]).toEqual([route, 403]);
    const fromPage = ["Host: localhost", "Origin: https://evil.example"];
    expect([route, await ask(route, fromPage)]).toEqual([route, 403]);
    expect([route, await ask(route, ["Host: localhost"])]).not.toEqual([route, 403]);
  }
});
