// Two real models on one server with memory for one, and management requests with settings for one of them.
import { tinyModel } from "@ingle/fixtures";
import { LlamaServerProps, ManagedModel } from "@ingle/protocol";
import type { ServerFlags } from "@ingle/server";
import { describe, expect, it } from "vitest";
import { buildApp } from "../src/app.ts";
import { knownModel } from "../src/cli/model/open-model.ts";
import { ModelRegistry } from "../src/models/registry.ts";
import { testConfig } from "./harness/scripted-server.ts";
import { testWorld } from "./cli-context.ts";

async function openServer(flags: ServerFlags = {}) {
  const { context } = testWorld();
  const budget = { byMemory: { host: 16 * 1024 ** 3 } };
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait", loadedMax: 1, budget });
  for (const [index, id] of ["one", "two"].entries()) {
    const path = await tinyModel({ seed: index + 1 });
    const engine = { threads: 1, parallel: 1, cacheRamMiB: 0 };
    registry.add(knownModel({ kind: "file", id, path, isListed: false }, context, { engine }));
  }
  const app = await buildApp(testConfig(flags), { registry });
  const manage = async (what: "load" | "unload", payload: object) => {
    const response = await app.inject({ method: "POST", url: `/api/v1/models/${what}`, payload });
    return { status: response.statusCode, body: response.json<unknown>() };
  };
  const load = async (payload: object) => ManagedModel.parse((await manage("load", payload)).body);
  return { app, registry, manage, load, [Symbol.asyncDispose]: () => app.close() };
}

describe("a load request with settings", () => {
  it("decides the memory for each token, which counts when other models are evicted", async () => {
    await using server = await openServer();
    const usual = await server.load({ model: "one" });
    await server.manage("unload", { model: "one" });
    const small = await server.load({ model: "one", kv_bits: 8, context_length: 64 });
    expect(small).toMatchObject({ kv_bits_k: 8, kv_bits_v: 8, context_length: 64 });
    // 8 bits are 8.5 with their scales.
    expect(small.kv_bytes_per_token).toBe(((usual.kv_bytes_per_token ?? 0) * 8.5) / 16);
    expect(small.memory_bytes).toBeLessThan(usual.memory_bytes ?? 0);

    await server.load({ model: "two" });
    using lease = await server.registry.acquire("one", "desktop");
    const { kvBytesPerToken, contextLength } = lease.model.info;
    expect([kvBytesPerToken, contextLength]).toEqual([small.kv_bytes_per_token, 64]);
  });

  it("sets defaults of the model's requests, before the server's, until it is unloaded by a request", async () => {
    await using server = await openServer({ llamaServerApi: true, temp: 0.25, topK: 3 });
    const defaults = async (model: string): Promise<object> => {
      const response = await server.app.inject(`/props?model=${model}`);
      return LlamaServerProps.parse(response.json()).default_generation_settings.params;
    };
    const sampling = { temperature: 0.5, repeat_penalty: 1.25, max_tokens: 7, stop: ["no"] };
    const loaded = await server.load({ model: "one", sampling: { ...sampling, temp: 2, seed: null } });
    expect(loaded.load_sampling).toEqual(sampling);
    const own = { temperature: 0.5, top_k: 3, repeat_penalty: 1.25, n_predict: 7, stop: ["no"] };
    expect(await defaults("one")).toMatchObject(own);
    expect((await server.manage("load", { model: "one", sampling })).status).toBe(200);
    const other = await server.manage("load", { model: "one", sampling: { temperature: 1 } });
    expect([other.status, other.body]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('sampling {"temperature":0.5') } },
    ]);

    const evicting = await server.load({ model: "two" });
    expect(evicting.load_sampling).toBeNull();
    const usual = { temperature: 0.25, top_k: 3, repeat_penalty: 1, n_predict: -1 };
    expect(await defaults("two")).toMatchObject(usual);
    expect(await defaults("one")).toMatchObject(own);
    await server.manage("unload", { model: "one" });
    expect(await defaults("one")).toMatchObject(usual);
  });

  it("changes the model's capabilities with its chat template, until it is unloaded", async () => {
    await using server = await openServer();
    const usual = await server.load({ model: "one" });
    expect(usual.capabilities).not.toContain("tools");
    await server.manage("unload", { model: "one" });
    const template =
      "{% for message in messages %}{{ message.content }}{% endfor %}{{ tools }}{{ enable_thinking }}";
    const loaded = await server.load({ model: "one", chat_template: template });
    expect(loaded.capabilities).toEqual(expect.arrayContaining(["tools", "thinking"]));
    const unloaded = ManagedModel.parse((await server.manage("unload", { model: "one" })).body);
    expect(unloaded.capabilities).toEqual(usual.capabilities);
  });

  it("is refused for defaults that a request could not have", async () => {
    await using server = await openServer();
    const problem = async (sampling: unknown): Promise<unknown> =>
      (await server.manage("load", { model: "one", sampling })).body;
    expect(await problem({ temperature: -1 })).toMatchObject({ error: { param: "sampling.temperature" } });
    expect(await problem({ mirostat: 2, adaptive_target: 0.5 })).toMatchObject({
      error: { param: "sampling.adaptive_target" },
    });
    expect(await problem([])).toMatchObject({ error: { param: "sampling" } });
  });

  it("is refused with the request's field if the model does not support such a context", async () => {
    await using server = await openServer();
    const { status, body } = await server.manage("load", { model: "one", context_length: 1_000_000 });
    expect([status, body]).toMatchObject([400, { error: { param: "context_length" } }]);
  });
});
