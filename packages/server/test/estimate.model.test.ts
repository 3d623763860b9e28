// The server's estimate for loading a real model, compared with what the load then takes.
import { tinyModel } from "@ingle/fixtures";
import { ManagedModel, MemoryEstimate } from "@ingle/protocol";
import { expect, it } from "vitest";
import { buildApp } from "../src/app.ts";
import { knownModel } from "../src/cli/model/open-model.ts";
import { ModelRegistry } from "../src/models/registry.ts";
import { testConfig } from "./harness/scripted-server.ts";
import { testWorld } from "./cli-context.ts";

async function openServer(hostBytes: number) {
  const { context } = testWorld();
  const budget = { byMemory: { host: hostBytes } };
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait", budget });
  const path = await tinyModel({ contextLength: 8192 });
  const engine = { threads: 1, parallel: 1, cacheRamMiB: 0 };
  registry.add(knownModel({ kind: "file", id: "tiny", path, isListed: false }, context, { engine }));
  const app = await buildApp(testConfig(), { registry });
  const ask = async (what: "load" | "estimate", settings: object = {}) => {
    const payload = { model: "tiny", ...settings };
    return await app.inject({ method: "POST", url: `/api/v1/models/${what}`, payload });
  };
  const estimate = async (settings?: object) =>
    MemoryEstimate.parse((await ask("estimate", settings)).json());
  return { ask, estimate, [Symbol.asyncDispose]: () => app.close() };
}

it("is what the load then takes, with the same settings", async () => {
  await using server = await openServer(16 * 1024 ** 3);
  const settings = { context_length: 4096, kv_bits: 8 };
  const estimate = await server.estimate(settings);
  expect(estimate).toMatchObject({
    fits: "yes",
    context_length: 4096,
    context_length_max: 8192,
    kv_bits_k: 8,
  });
  const usual = await server.estimate();
  expect(usual.memory_bytes).toBeGreaterThan(estimate.memory_bytes);
  const loaded = ManagedModel.parse((await server.ask("load", settings)).json());
  const { memory_bytes, kv_bytes_per_token, context_length } = estimate;
  expect(loaded).toMatchObject({ memory_bytes, kv_bytes_per_token, context_length, architecture: "llama" });
  // The model does not count against itself.
  expect(await server.estimate(settings)).toEqual(estimate);
});

it("is no for what the load refuses, with the same message", async () => {
  await using server = await openServer(1024 ** 2);
  const { fits, reason, memory_bytes, available_bytes } = await server.estimate({ context_length: 8192 });
  expect([fits, available_bytes]).toEqual(["no", 1024 ** 2]);
  expect(memory_bytes).toBeGreaterThan(1024 ** 2);
  const refused = await server.ask("load", { context_length: 8192 });
  expect(refused.json()).toMatchObject({
    error: { code: "out_of_memory", message: expect.stringContaining(reason) },
  });
});

it("refuses a context that the model was not trained for", async () => {
  await using server = await openServer(16 * 1024 ** 3);
  const refused = await server.ask("estimate", { context_length: 100_000 });
  expect([refused.statusCode, refused.json()]).toMatchObject([400, { error: { param: "context_length" } }]);
});
