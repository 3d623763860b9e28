import { EngineError } from "@ingle/engine";
import { ManagedModel, ManagedModelList, ServerState } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { buildApp } from "../../app.ts";
import { ModelRegistry, type RegistryOptions } from "../../models/registry.ts";
import { gate, scriptedKnown, type ScriptedKnown } from "../../../test/harness/scripted-models.ts";
import { testConfig } from "../../../test/harness/scripted-server.ts";

/** A server that knows these models. */
async function openManagement(models: readonly ScriptedKnown[], options: Partial<RegistryOptions> = {}) {
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait", ...options });
  for (const model of models) registry.add(model);
  const now = (): Date => new Date(5_000);
  const app = await buildApp(testConfig(), { registry, now });
  const post = (path: string, payload: object) =>
    app.inject({ method: "POST", url: `/api/v1/models/${path}`, payload });
  const list = async () => ManagedModelList.parse((await app.inject({ url: "/api/v1/models" })).json());
  return { app, registry, post, list };
}

describe("GET /api/v1/models", () => {
  it("lists every known model with its state, and the memory of all", async () => {
    const budget = { byMemory: { host: 100 } };
    const a = scriptedKnown("a", { hostBytes: 30 });
    const server = await openManagement([a, scriptedKnown("b")], { budget, pinned: ["a"] });
    await server.registry.load("a");
    using _lease = await server.registry.acquire("a", "desktop");
    const { data, memory } = await server.list();
    expect(memory).toEqual({ used_bytes: 30, budget_bytes: 100 });
    expect(data).toMatchObject([
      { id: "a", status: "loaded", pinned: true, running: 1, memory_bytes: 30, context_length: 2048 },
      { id: "b", status: "available", pinned: false, running: 0, memory_bytes: null, loaded_at: null },
    ]);
  });

  it("shows what the library and a file's header tell about a model before it is loaded", async () => {
    const traits = {
      architecture: "lfm2",
      knowsTools: true,
      knowsThinking: true,
      isEmbedder: false,
      sampling: {},
    };
    const contextLengthTrain = 128_000;
    const listed = {
      format: "mlx",
      sha256: null,
      lastUsedAt: new Date(7_900),
      isRemovable: true,
      isImported: true,
      traits: { ...traits, contextLengthTrain },
    } as const;
    const a = { ...scriptedKnown("a"), about: { readsImages: true }, listed };
    const source = { known: async () => [a, scriptedKnown("b")] };
    const server = await openManagement([], { source, now: () => new Date(9_000) });
    expect((await server.list()).data).toMatchObject([
      {
        format: "mlx",
        architecture: "lfm2",
        context_length_train: 128_000,
        capabilities: ["vision", "tools", "thinking"],
        last_used_at: 7,
        removable: true,
        imported: true,
      },
      {
        format: null,
        architecture: null,
        capabilities: [],
        last_used_at: null,
        removable: false,
        imported: false,
      },
    ]);
    await server.registry.load("b");
    expect((await server.list()).data).toMatchObject([
      {},
      { architecture: "scripted", capabilities: ["tools"], last_used_at: 9 },
    ]);
  });

  it("shows the progress of a load, and why one failed", async () => {
    const [a, b] = [scriptedKnown("a"), scriptedKnown("b")];
    const finish = gate();
    a.gate = finish.closed;
    b.refusal = new EngineError("model_invalid", "b.gguf is cut short.");
    const server = await openManagement([a, b]);
    const loading = server.registry.load("a");
    await expect(server.registry.load("b")).rejects.toThrow();
    a.report(0.5);
    expect((await server.list()).data).toMatchObject([
      { status: "loading", progress: 0.5, error: null },
      { status: "failed", progress: null, error: "b.gguf is cut short." },
    ]);
    finish.open();
    await loading;
  });
});

describe("POST /api/v1/models/load and unload", () => {
  it("respond when the request is carried out", async () => {
    const server = await openManagement([scriptedKnown("a")]);
    const loaded = await server.post("load", { model: "a" });
    expect([loaded.statusCode, ManagedModel.parse(loaded.json()).status]).toEqual([200, "loaded"]);
    const unloaded = await server.post("unload", { model: "a" });
    expect([unloaded.statusCode, ManagedModel.parse(unloaded.json()).status]).toEqual([200, "available"]);
  });

  it("respond at once with `wait: false`", async () => {
    const a = scriptedKnown("a");
    const finish = gate();
    a.gate = finish.closed;
    const server = await openManagement([a]);
    const begun = await server.post("load", { model: "a", wait: false });
    expect(begun.statusCode).toBe(200);
    expect((await server.list()).data).toMatchObject([{ status: "loading" }]);
    finish.open();
    await expect.poll(async () => (await server.list()).data[0]?.status).toBe("loaded");
  });

  it("name an unknown model, and what is wrong with the request", async () => {
    const server = await openManagement([]);
    for (const path of ["load", "unload"]) {
      expect((await server.post(path, { model: "x" })).json()).toMatchObject({
        error: { code: "model_not_found" },
      });
      expect((await server.post(path, {})).json()).toMatchObject({
        error: { code: "invalid_request", param: "model" },
      });
    }
  });

  it("load with the request's settings, and show them", async () => {
    const server = await openManagement([scriptedKnown("a")]);
    const request = { model: "a", context_length: 512, kv_bits: 8, kv_bits_v: 4 };
    const loaded = await server.post("load", request);
    expect(loaded.json()).toMatchObject({ context_length: 512, kv_bits_k: 8, kv_bits_v: 4 });
    await server.post("unload", { model: "a" });
    const again = await server.post("load", { model: "a" });
    expect(again.json()).toMatchObject({ context_length: 2048, kv_bits_k: 16, kv_bits_v: 16 });
  });

  it.each([true, false])("refuse other settings for a loaded model, `wait: %s`", async (wait) => {
    const server = await openManagement([scriptedKnown("a")]);
    await server.post("load", { model: "a", kv_bits: 8, batch_size: 64 });
    const other = await server.post("load", { model: "a", kv_bits: 4, wait });
    expect([other.statusCode, other.json()]).toMatchObject([
      400,
      {
        error: { code: "invalid_request", param: "model", message: expect.stringContaining("batch_size 64") },
      },
    ]);
    expect((await server.list()).data).toMatchObject([{ status: "loaded", kv_bits_k: 8 }]);
  });

  it.each([
    [{ kv_bits: 5 }, "kv_bits", "kv_bits must be 16, 8, 4 or 3"],
    [{ kv_bits_k: "8" }, "kv_bits_k", "kv_bits_k must be 16, 8, 4 or 3"],
    [{ context_length: 8 }, "context_length", "context_length must be an integer of at least 16"],
  ])("refuse %j", async (settings, param, message) => {
    const server = await openManagement([scriptedKnown("a")]);
    const response = await server.post("load", { model: "a", ...settings });
    expect([response.statusCode, response.json()]).toMatchObject([400, { error: { param, message } }]);
  });

  it.each([
    ["contextLength", "4096 is too many.", "context_length: 4096 is too many."],
    ["devices", "there is no GPU.", "device: there is no GPU."],
    ["kvOffload", "Leave the option out.", "kv_offload: Leave the option out."],
    ["ubatchTokens", "must be at most batchTokens.", "ubatch_size: must be at most batch_size."],
  ])("name the request's field if the engine refuses `%s`", async (param, reason, message) => {
    const a = scriptedKnown("a");
    a.refusal = new EngineError("invalid_request", `${param}: ${reason}`, { details: { param } });
    const server = await openManagement([a]);
    expect((await server.post("load", { model: "a" })).json()).toMatchObject({
      error: { param: message.split(":")[0], message },
    });
  });

  it("report why a model cannot be loaded", async () => {
    const a = scriptedKnown("a");
    a.refusal = new EngineError("out_of_memory", "a.gguf needs 9.0 GiB of memory.");
    const server = await openManagement([a]);
    const refused = await server.post("load", { model: "a" });
    expect(refused.statusCode).toBe(503);
    expect(refused.headers["retry-after"]).toBeDefined();
    expect(refused.json()).toMatchObject({
      error: { code: "out_of_memory", message: expect.stringContaining("9.0 GiB") },
    });
  });
});

describe("GET /api/v1/state", () => {
  it("returns what the server is doing", async () => {
    const server = await openManagement([scriptedKnown("a", { hostBytes: 7 }), scriptedKnown("b")]);
    await server.registry.load("a");
    const state = ServerState.parse((await server.app.inject({ url: "/api/v1/state" })).json());
    expect(state).toEqual({
      status: "ok",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      variant: "desktop",
      started_at: 5,
      running: 0,
      waiting: 0,
      loaded: ["a"],
      memory: { used_bytes: 7, budget_bytes: null },
    });
  });
});
