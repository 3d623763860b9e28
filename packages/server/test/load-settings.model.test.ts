// Two real models on one server with memory for one, and management requests with settings for one of them.
import { tinyModel } from "@ingle/fixtures";
import { ManagedModel } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { buildApp } from "../src/app.ts";
import { knownModel } from "../src/cli/model/open-model.ts";
import { ModelRegistry } from "../src/models/registry.ts";
import { testConfig } from "../src/testing/scripted-server.ts";
import { testWorld } from "./cli-context.ts";

async function openServer() {
  const { context } = testWorld();
  const budget = { byMemory: { host: 16 * 1024 ** 3 } };
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait", loadedMax: 1, budget });
  for (const [index, id] of ["one", "two"].entries()) {
    const path = await tinyModel({ seed: index + 1 });
    const engine = { threads: 1, parallel: 1, cacheRamMiB: 0 };
    registry.add(knownModel({ kind: "file", id, path, isListed: false }, context, { engine }));
  }
  const app = await buildApp(testConfig(), { registry });
  const manage = async (what: "load" | "unload", payload: object) => {
    const response = await app.inject({ method: "POST", url: `/api/v1/models/${what}`, payload });
    return { status: response.statusCode, body: response.json<unknown>() };
  };
  const load = async (payload: object) => ManagedModel.parse((await manage("load", payload)).body);
  return { registry, manage, load, [Symbol.asyncDispose]: () => app.close() };
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

  it("is refused with the request's field if the model does not support such a context", async () => {
    await using server = await openServer();
    const { status, body } = await server.manage("load", { model: "one", context_length: 1_000_000 });
    expect([status, body]).toMatchObject([400, { error: { param: "context_length" } }]);
  });
});
