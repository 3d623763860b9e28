// The settings that stay with a model, on a real one: how it is loaded, what its requests get, its profiles and its aliases.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { tinyModel } from "@ingle/fixtures";
import {
  ChatCompletion,
  LlamaServerCompletion,
  ManagedModelList,
  ModelList,
  ModelSettingsState,
  RenderedPrompt,
} from "@ingle/protocol";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { buildApp } from "../src/app.ts";
import { knownModel } from "../src/cli/model/open-model.ts";
import { ModelRegistry } from "../src/models/registry.ts";
import { ModelSettingsStore } from "../src/models/settings/model-settings-store.ts";
import { testWorld } from "./cli-context.ts";
import { testConfig } from "./harness/scripted-server.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-model-settings-"));
});
afterEach(() => rm(folder, { recursive: true }));

const messages = [{ role: "user", content: "Hi" }];

async function openServer(settings: object) {
  const file = path.join(folder, "models.jsonc");
  await writeFile(file, JSON.stringify({ models: settings }));
  const closing = new AbortController();
  const news = { lookEveryMs: 10, onFailure: () => {}, signal: closing.signal };
  const modelSettings = await ModelSettingsStore.follow(folder, { ...news, isLenient: false });
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait", modelSettings });
  const place = await tinyModel();
  const engine = { threads: 1, parallel: 1, cacheRamMiB: 0 };
  const { context } = testWorld();
  registry.add(knownModel({ kind: "file", id: "one", path: place, isListed: false }, context, { engine }));
  const config = testConfig({ llamaServerApi: true, temp: 0.9, topK: 11 });
  const app = await buildApp(config, { registry, modelSettings });
  const post = async (url: string, payload: object): Promise<unknown> =>
    (await app.inject({ method: "POST", url, payload })).json();
  return {
    app,
    post,
    file,
    registry,
    /** The text of a chat's prompt. */
    prompt: async (model: string, body: object = {}): Promise<string> => {
      const rendered = await post("/v1/chat/completions/render", { model, messages, ...body });
      const { token_ids: ids } = RenderedPrompt.parse(rendered);
      using lease = await registry.acquire("one", "desktop");
      return await lease.model.tokenizer.decode(Int32Array.from(ids));
    },
    /** What a completion is generated with. */
    sampling: async (model: string, body: object = {}): Promise<object> => {
      const completion = await post("/completion", { model, prompt: "One river", n_predict: 1, ...body });
      return LlamaServerCompletion.parse(completion).generation_settings;
    },
    put: async (model: string, payload: object) => {
      const response = await app.inject({ method: "PUT", url: `/api/v1/models/${model}/settings`, payload });
      const ignored = response.headers["x-ingle-ignored"];
      return { status: response.statusCode, body: response.json<unknown>(), ignored };
    },
    managed: async () => ManagedModelList.parse((await app.inject("/api/v1/models")).json()).data[0],
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await app.close();
      await registry[Symbol.asyncDispose]();
    },
  };
}

it("a request gets what it says, else its profile, else its model, else a pattern, else the server", async () => {
  await using server = await openServer({
    "*": { sampling: { temperature: 0.5, min_p: 0.25, repeat_penalty: 1.5 } },
    one: {
      sampling: { temperature: 0.25, repeat_penalty: 1.25 },
      profiles: { coding: { sampling: { temperature: 0 } } },
    },
  });
  const own = { temperature: 0.25, top_k: 11, min_p: 0.25, repeat_penalty: 1.25 };
  expect(await server.sampling("one")).toMatchObject(own);
  expect(await server.sampling("one:coding")).toMatchObject({ ...own, temperature: 0 });
  expect(await server.sampling("one:coding", { temperature: 2 })).toMatchObject({ ...own, temperature: 2 });
});

it("a chat without a system message gets that of its profile or its model", async () => {
  await using server = await openServer({
    one: { system_prompt: "Be brief.", profiles: { coding: { system_prompt: "Write code." }, plain: {} } },
  });
  expect(await server.prompt("one")).toMatch(/system.*Be brief\..*user.*Hi/s);
  expect(await server.prompt("one:plain")).toContain("Be brief.");
  const coding = await server.prompt("one:coding");
  expect(coding).toContain("Write code.");
  expect(coding).not.toContain("Be brief.");
  const told = await server.prompt("one", { messages: [{ role: "system", content: "Mine." }, ...messages] });
  expect(told).toContain("Mine.");
  expect(told).not.toContain("Be brief.");
  const chat = await server.post("/v1/chat/completions", { model: "one:coding", messages, max_tokens: 1 });
  expect(ChatCompletion.parse(chat).model).toBe("one:coding");
});

it("profiles are listed as models, share the one that is loaded, and unknown ones are an error", async () => {
  await using server = await openServer({
    one: { aliases: ["mine"], profiles: { coding: {}, writing: {} } },
  });
  await server.sampling("one:coding");
  await server.sampling("mine:writing");
  await server.sampling("mine");
  expect(server.registry.slots.map(({ counts }) => counts.loads)).toEqual([1]);
  const { data } = ModelList.parse((await server.app.inject("/v1/models")).json());
  expect(data.map(({ id, parent }) => [id, parent])).toEqual([
    ["one", undefined],
    ["one:coding", "one"],
    ["one:writing", "one"],
  ]);
  expect(await server.post("/completion", { model: "one:reading", prompt: "a" })).toMatchObject({
    error: { code: expect.anything() },
  });
});

it("a model is loaded with its settings, and again once they have changed and no request uses it", async () => {
  await using server = await openServer({ one: { context_length: 128, kv_bits: 8 } });
  {
    using lease = await server.registry.acquire("one", "desktop");
    expect(lease.model.info.contextLength).toBe(128);
    expect(await server.managed()).toMatchObject({ context_length: 128, kv_bits_k: 8 });
    await writeFile(server.file, JSON.stringify({ models: { one: { context_length: 64 } } }));
    await vi.waitFor(async () => expect(await server.managed()).toMatchObject({ status: "draining" }));
    expect(await server.managed()).toMatchObject({ context_length: 128, kv_bits_k: 8 });
  }
  using lease = await server.registry.acquire("one", "desktop");
  expect(lease.model.info.contextLength).toBe(64);
  expect(await server.managed()).toMatchObject({ context_length: 64, kv_bits_k: 16 });
});

it("settings of requests alone change without a load", async () => {
  await using server = await openServer({});
  expect(await server.sampling("one")).toMatchObject({ temperature: 0.9 });
  const changed = await server.put("one", { sampling: { temperature: 0.25 } });
  expect(ModelSettingsState.parse(changed.body)).toMatchObject({
    model: "one",
    settings: { sampling: { temperature: 0.25 } },
  });
  expect(await server.sampling("one")).toMatchObject({ temperature: 0.25 });
  expect(server.registry.slots.map(({ counts }) => counts)).toMatchObject([{ loads: 1, unloads: 0 }]);
  await server.put("one", {});
  expect(await server.sampling("one")).toMatchObject({ temperature: 0.9 });
});

it("a load request outranks the settings until it is unloaded", async () => {
  await using server = await openServer({ one: { context_length: 128, sampling: { temperature: 0.25 } } });
  await server.post("/api/v1/models/load", { model: "one", context_length: 64, sampling: { top_k: 2 } });
  expect(await server.managed()).toMatchObject({ context_length: 64 });
  expect(await server.sampling("one")).toMatchObject({ temperature: 0.25, top_k: 2 });
  await server.post("/api/v1/models/unload", { model: "one" });
  expect(await server.sampling("one")).toMatchObject({ temperature: 0.25, top_k: 11 });
  expect(await server.managed()).toMatchObject({ context_length: 128 });
});

it("what is wrong is refused with its field, and a path of this machine's disk is not taken from a client", async () => {
  await using server = await openServer({});
  expect(await server.put("one", { kv_bits: 7 })).toMatchObject({
    status: 400,
    body: { error: { param: "kv_bits" } },
  });
  expect(await server.put("one", { kvbits: 8 })).toMatchObject({ status: 200, ignored: "kvbits" });
  expect(await server.put("one", { draft_model: "/etc/passwd" })).toMatchObject({
    status: 400,
    body: { error: { param: "draft_model" } },
  });
  expect(await server.put("nobody", {})).toMatchObject({ status: 404 });
});
