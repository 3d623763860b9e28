import { EngineError } from "@ingle/engine";
import { ManagedModel, MemoryEstimate } from "@ingle/protocol";
import { expect, it } from "vitest";
import { buildApp } from "../../app.ts";
import { ModelRegistry, type RegistryOptions } from "../../models/registry.ts";
import { gate, scriptedKnown, type ScriptedKnown } from "../../../test/harness/scripted-models.ts";
import { testConfig } from "../../../test/harness/scripted-server.ts";

const budget = { byMemory: { host: 100 } };

async function openManagement(models: readonly ScriptedKnown[], options: Partial<RegistryOptions> = {}) {
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait", budget, ...options });
  for (const model of models) registry.add(model);
  const app = await buildApp(testConfig(), { registry });
  const post = (path: string, payload: object) =>
    app.inject({ method: "POST", url: `/api/v1/models/${path}`, payload });
  const estimate = async (payload: object) =>
    MemoryEstimate.parse((await post("estimate", { model: "a", ...payload })).json());
  return { app, registry, post, estimate };
}

const tellable = (id: string, hostBytes: number, forecast = {}) => scriptedKnown(id, { hostBytes, forecast });

it("estimates the memory of a model that fits, and loads nothing", async () => {
  const a = tellable("a", 30);
  const server = await openManagement([a]);
  expect(await server.estimate({})).toEqual({
    model: "a",
    fits: "yes",
    reason: "It needs 30 B. Models may take 100 B more.",
    memory_bytes: 30,
    available_bytes: 100,
    context_length: 2048,
    context_length_max: 8192,
    kv_bytes_per_token: 64,
    kv_bits_k: 16,
    kv_bits_v: 16,
  });
  expect(a.log).toEqual({ prepared: 0, loads: 0, frees: 0 });
});

it("uses the settings of the request", async () => {
  const a = tellable("a", 30);
  const server = await openManagement([a]);
  const settings = { context_length: 512, kv_bits: 8, kv_bits_v: 4 };
  expect(await server.estimate(settings)).toMatchObject({ context_length: 512, kv_bits_k: 8, kv_bits_v: 4 });
  expect(a.asked).toEqual([{ contextLength: 512, kvBitsK: 8, kvBitsV: 4 }]);
});

it("has no limit without a memory budget", async () => {
  const server = await openManagement([tellable("a", 30)], { budget: undefined });
  expect(await server.estimate({})).toMatchObject({
    fits: "yes",
    reason: "It needs 30 B.",
    available_bytes: null,
  });
});

it("is tight if other models must be evicted, and names them", async () => {
  const server = await openManagement([tellable("a", 60), scriptedKnown("b", { hostBytes: 70 })]);
  await server.registry.load("b");
  expect(await server.estimate({})).toMatchObject({
    fits: "tight",
    reason: "It needs 60 B. Other models are evicted for it: b.",
    available_bytes: 30,
  });
  expect(server.registry.slots.map(({ state }) => state.kind)).toEqual(["available", "loaded"]);
});

it("is no if pinned models are in the way", async () => {
  const server = await openManagement([tellable("a", 60), scriptedKnown("b", { hostBytes: 70 })]);
  await server.registry.load("b");
  expect(ManagedModel.parse((await server.post("pin", { model: "b", pinned: true })).json())).toMatchObject({
    id: "b",
    pinned: true,
  });
  expect(await server.estimate({})).toMatchObject({
    fits: "no",
    reason: expect.stringContaining("pinned models"),
  });
  await server.post("pin", { model: "b", pinned: false });
  expect(await server.estimate({})).toMatchObject({ fits: "tight" });
});

it("is tight if less memory than usual is available", async () => {
  const server = await openManagement([tellable("a", 90, { isReduced: true, contextLength: 1024 })]);
  expect(await server.estimate({})).toMatchObject({
    fits: "tight",
    reason: "Memory is short: a context of 1,024 tokens fits, with 90 B in all.",
    context_length: 1024,
  });
});

it("is no with the reason for which a load would be refused", async () => {
  const refusal = new EngineError("out_of_memory", "a.gguf needs 9.0 GiB of memory.");
  const server = await openManagement([tellable("a", 900, { refusal, contextLengthMax: 0 })]);
  expect(await server.estimate({})).toMatchObject({
    fits: "no",
    reason: "a.gguf needs 9.0 GiB of memory.",
    context_length_max: 0,
  });
});

it("does not count the model's own memory against it", async () => {
  const server = await openManagement([tellable("a", 60)]);
  await server.registry.load("a");
  expect(await server.estimate({})).toMatchObject({ fits: "yes", available_bytes: 100 });
});

it("is an error without an estimate, and for an unknown model", async () => {
  const server = await openManagement([scriptedKnown("a")]);
  expect((await server.post("estimate", { model: "a" })).json()).toMatchObject({
    error: { code: "invalid_request", param: "model" },
  });
  expect((await server.post("estimate", { model: "b" })).json()).toMatchObject({
    error: { code: "model_not_found" },
  });
});

it("runs one estimate at a time, and limits the number of waiting ones", async () => {
  const a = tellable("a", 30);
  const forecast = a.forecast;
  const slow = gate();
  let running = 0;
  a.forecast = async (settings) => {
    running += 1;
    expect(running).toBe(1);
    await slow.closed;
    running -= 1;
    if (forecast === undefined) throw new Error("It was told to have one.");
    return await forecast(settings);
  };
  const server = await openManagement([a]);
  const asked = Array.from({ length: 70 }, () => server.post("estimate", { model: "a" }));
  await expect.poll(() => running).toBe(1);
  slow.open();
  const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode);
  expect([
    statuses.filter((status) => status === 200).length,
    statuses.filter((status) => status === 429).length,
  ]).toEqual([64, 6]);
});

it.each([{}, { model: "a" }, { model: "a", pinned: "yes" }, { model: "a", pinned: null }])(
  "pinning refuses %j",
  async (payload) => {
    const server = await openManagement([scriptedKnown("a")]);
    expect((await server.post("pin", payload)).statusCode).toBe(400);
  },
);
