// Managing models in LM Studio's API v1 with `ingle serve`, a library and a hub on this machine: lists, loads, unloads and downloads,
// beside our own client on the same paths.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Ingle } from "@ingle/client";
import { FakeHub } from "@ingle/fixtures/fake-hub";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { testWorld } from "../cli-context.ts";
import { expectDocumented } from "../documented.ts";
import { exchange, requestText } from "../raw-http.ts";

const repo = "acme/other-GGUF";
const id = `${repo}:F32`;

let user = "";
let hub: FakeHub;
let file: Buffer;
beforeAll(async () => {
  user = await mkdtemp(path.join(tmpdir(), "ingle-lm-studio-"));
  file = await readFile(await tinyModel({ seed: 7 }));
  hub = await FakeHub.start({ repo, files: { "other-F32.gguf": file } });
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  await rm(user, { recursive: true });
});

/** `ingle serve --variant developer` with a model and its own home folder. */
async function served(model: string) {
  const home = await mkdtemp(path.join(user, "home-"));
  const env = { HOME: home, INGLE_HOME: home, HF_ENDPOINT: hub.url };
  const world = testWorld({ env });
  const flags = ["--variant", "developer", "--port", "0", "--threads", "1", "--ctx", "512"];
  const exit = main("ingle", ["serve", ...flags, "--model", model], world.context);
  await world.outHas("Ctrl-C");
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(world.out())?.[0] ?? "";
  /** The response, which the API's document has to describe. */
  const ask = async (operation: string, body?: object) => {
    const [method = "", route = ""] = operation.split(" ");
    const response = await fetch(url + route, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    const documented = operation.replace(/(status)\/.*/, "$1/{id}");
    await expectDocumented(url, documented, response.clone());
    return { status: response.status, json: await response.json() };
  };
  /** What another command prints. */
  const run = async (...args: string[]): Promise<string> => {
    const other = testWorld({ env });
    expect(await main("ingle", [...args, "--url", url], other.context)).toBe(0);
    return other.out();
  };
  const first: string = (await ask("GET /api/v1/models")).json.models[0].key;
  return {
    url,
    /** The model that it was started with. */
    first,
    ask,
    run,
    [Symbol.asyncDispose]: async () => {
      world.signals.emit("SIGINT");
      expect(await exit).toBe(0);
    },
  };
}

describe("GET /api/v1/models", () => {
  it("lists models for LM Studio's clients beside our list", async () => {
    await using server = await served(await tinyModel({ seed: 6 }));
    const { json } = await server.ask("GET /api/v1/models");
    const { first } = server;
    expect(json.data).toMatchObject([{ id: first, status: "loaded" }]);
    expect(json.models).toMatchObject([
      {
        type: "llm",
        publisher: "local",
        display_name: first,
        architecture: "llama",
        quantization: { name: "F32", bits_per_weight: 32 },
        params_string: expect.stringMatching(/^\d+(\.\d+)?[KM]$/),
        loaded_instances: [{ id: first, config: { context_length: 512, parallel: expect.any(Number) } }],
        format: "gguf",
        capabilities: { vision: false, trained_for_tool_use: false },
      },
    ]);
    expect(json.models[0].size_bytes).toBeGreaterThan(1_000);
    expect(json.models[0].max_context_length).toBeGreaterThanOrEqual(512);
  });

  it("lists an embedding model without what only others have", async () => {
    await using server = await served(await tinyModel({ architecture: "bert" }));
    const [model] = (await server.ask("GET /api/v1/models")).json.models;
    expect(model.type).toBe("embedding");
    expect(model).not.toHaveProperty("capabilities");
    expect(model).not.toHaveProperty("architecture");
    expect(model.loaded_instances[0].config).not.toHaveProperty("parallel");
    const [older] = (await server.ask("GET /api/v0/models")).json.data;
    expect(older).toMatchObject({ type: "embeddings", arch: "bert", state: "loaded" });
  });
});

describe("POST /api/v1/models/load and unload", () => {
  const load = "POST /api/v1/models/load";
  const unload = "POST /api/v1/models/unload";

  it("free a model by its instance, and load it with LM Studio's settings", async () => {
    await using server = await served(await tinyModel({ seed: 6 }));
    const { first, ask } = server;
    const freed = await ask(unload, { instance_id: first });
    expect([freed.status, freed.json.instance_id, freed.json.status]).toEqual([200, first, "available"]);
    expect((await ask("GET /api/v1/models")).json.models[0].loaded_instances).toEqual([]);
    const settings = { context_length: 256, eval_batch_size: 64, flash_attention: false };
    const loaded = await ask(load, { model: first, ...settings, echo_load_config: true });
    expect(loaded.json).toMatchObject({
      type: "llm",
      instance_id: first,
      status: "loaded",
      load_config: settings,
    });
    expect(loaded.json.load_time_seconds).toBeGreaterThan(0);
    const [{ loaded_instances }] = (await ask("GET /api/v1/models")).json.models;
    expect(loaded_instances).toMatchObject([{ id: first, config: settings }]);
    // There is one instance: the same settings are no second load, and others are an error.
    expect((await ask(load, { model: first, ...settings })).json).not.toHaveProperty("load_config");
    expect((await ask(load, { model: first, context_length: 128 })).status).toBe(400);
  });

  it("take what the KV cache of a machine without GPUs is asked to be", async () => {
    await using server = await served(await tinyModel({ seed: 6 }));
    const { first, ask } = server;
    await ask(unload, { instance_id: first });
    const loaded = await ask(load, { model: first, offload_kv_cache_to_gpu: true, echo_load_config: true });
    expect(loaded.json).toMatchObject({ status: "loaded" });
  });

  it.each([
    [load, { num_experts: 4 }, 400, "num_experts"],
    [load, { flash_attention: "yes" }, 400, "flash_attention"],
    [load, { model: "absent" }, 404, "model"],
    [unload, { model: undefined }, 400, "model"],
    [unload, { model: undefined, instance_id: "absent" }, 404, "model"],
  ])("%s refuses %j", async (operation, body, status, param) => {
    await using server = await served(await tinyModel({ seed: 6 }));
    const refused = await server.ask(operation, { model: server.first, ...body });
    expect([refused.status, refused.json.error.param]).toEqual([status, param]);
  });

  it("go on working for our own client and commands", async () => {
    await using server = await served(await tinyModel({ seed: 6 }));
    const { first, run } = server;
    const { library } = new Ingle({ baseUrl: server.url });
    expect((await library.list()).data).toMatchObject([{ id: first, status: "loaded" }]);
    expect(await library.unload(first)).toMatchObject({ id: first, status: "available" });
    expect(await library.load(first, { context_length: 128 })).toMatchObject({ context_length: 128 });
    expect(await run("ps")).toContain(first);
    expect(await run("unload", first)).toContain(first);
    expect((await library.list()).data).toMatchObject([{ status: "available" }]);
    await run("load", first);
    expect((await library.list()).data).toMatchObject([{ status: "loaded" }]);
  });
});

describe("POST /api/v1/models/download", () => {
  const download = "POST /api/v1/models/download";
  const statusRoute = (job: string): string => `GET /api/v1/models/download/status/${job}`;

  it("fetches a model in the background, and tells how far it is", async () => {
    await using server = await served(await tinyModel({ seed: 6 }));
    const { ask } = server;
    hub.slowly = { bytes: 65_536, delayMs: 20 };
    const begun = (await ask(download, { model: `https://huggingface.co/${repo}`, quantization: "F32" }))
      .json;
    expect(begun).toMatchObject({ status: "downloading", total_size_bytes: file.length });
    expect(Date.parse(begun.started_at)).toBeGreaterThan(Date.now() - 60_000);
    const job = begun.job_id;
    const seen = (await ask(statusRoute(job))).json;
    expect(seen).toMatchObject({ job_id: job, status: "downloading" });
    hub.slowly = { bytes: 0, delayMs: 0 };
    await expect
      .poll(async () => (await ask(statusRoute(job))).json.status, { timeout: 20_000 })
      .toBe("completed");
    const ended = (await ask(statusRoute(job))).json;
    expect(ended.downloaded_bytes).toBe(ended.total_size_bytes);
    expect(Date.parse(ended.completed_at)).toBeGreaterThanOrEqual(Date.parse(ended.started_at));
    expect((await ask(download, { model: id })).json).toEqual({ status: "already_downloaded" });
    const { models } = (await ask("GET /api/v1/models")).json;
    expect(models).toContainEqual(
      expect.objectContaining({
        key: id,
        publisher: "acme",
        display_name: "other-GGUF:F32",
        loaded_instances: [],
      }),
    );
    expect((await ask("POST /api/v1/models/load", { model: id })).json.instance_id).toBe(id);
  });

  it("says why it failed, and refuses what it cannot be", async () => {
    await using server = await served(await tinyModel({ seed: 6 }));
    const { ask } = server;
    const failed = (await ask(download, { model: "nobody/nothing" })).json;
    expect(failed).toMatchObject({ status: "failed", error: expect.stringContaining("nobody/nothing") });
    const twice = await ask(download, { model: id, quantization: "Q4_K_M" });
    expect(twice).toMatchObject({
      status: 400,
      json: { error: { type: "invalid_request", param: "quantization" } },
    });
    const absent = await ask(statusRoute("absent"));
    expect(absent).toMatchObject({ status: 404, json: { error: { type: "job_not_found" } } });
  });

  it("needs the right to manage models", async () => {
    await using server = await served(await tinyModel({ seed: 6 }));
    for (const [method, route] of [
      ["POST", "download"],
      ["POST", "load"],
      ["POST", "unload"],
      ["GET", "download/status/x"],
    ] as const) {
      const fromPage = { origin: "http://localhost:5173", "content-type": "application/json" };
      const body = method === "POST" ? { body: JSON.stringify({ model: "x" }) } : {};
      const url = `${server.url}/api/v1/models/${route}`;
      const refused = await fetch(url, { method, headers: fromPage, ...body });
      expect([route, refused.status]).toEqual([route, 403]);
    }
  });
});

it("every route refuses other hosts and the pages of other sites", async () => {
  await using server = await served(await tinyModel({ seed: 6 }));
  const port = Number(new URL(server.url).port);
  const ask = async (route: string, headers: string[]): Promise<number> => {
    const all = ["Content-Type: application/json", "Content-Length: 2", ...headers];
    return (await exchange(port, requestText(route, all, "{}"))).status;
  };
  const v0 = ["GET /api/v0/models", "GET /api/v0/models/x", "POST /api/v0/chat/completions"];
  const others = ["completions", "embeddings"].map((name) => `POST /api/v0/${name}`);
  const v1 = ["load", "unload", "download"].map((name) => `POST /api/v1/models/${name}`);
  const rest = ["GET /api/v1/models", "GET /api/v1/models/download/status/x", "POST /api/v1/chat"];
  for (const route of [...v0, ...others, ...v1, ...rest]) {
    expect([route, await ask(route, ["Host: evil.example"])]).toEqual([route, 403]);
    const fromPage = ["Host: localhost", "Origin: https://evil.example"];
    expect([route, await ask(route, fromPage)]).toEqual([route, 403]);
    expect([route, await ask(route, ["Host: localhost"])]).not.toEqual([route, 403]);
  }
});
