import type { LibraryProgress } from "@ingle/engine";
import {
  FoundRepositories,
  ManagedModelList,
  ModelAliases,
  OfferedRepository,
  PullEvent,
  RecommendedModel,
  RemovedModel,
} from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { buildApp } from "../../app.ts";
import type { ServerFlags } from "../../config.ts";
import { ModelRegistry } from "../../models/registry.ts";
import { serve } from "../../serve.ts";
import { scriptedLibrary } from "../../../test/harness/scripted-library.ts";
import { scriptedKnown, type ScriptedKnown } from "../../../test/harness/scripted-models.ts";
import { testConfig } from "../../../test/harness/scripted-server.ts";

async function openManagement(flags: ServerFlags = {}, installed: ScriptedKnown[] = []) {
  const scripted = scriptedLibrary(installed);
  const source = { known: async () => installed };
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait", source });
  const config = testConfig(flags);
  const app = await buildApp(config, { registry, library: scripted.library });
  const post = (path: string, payload: object) =>
    app.inject({ method: "POST", url: `/api/v1/models/${path}`, payload });
  return { ...scripted, app, config, registry, post };
}

const half: LibraryProgress = { phase: "download", bytes: 5, totalBytes: 10 };

describe("POST /api/v1/models/pull", () => {
  it("reports progress, and at the end that requests may use the model", async () => {
    const server = await openManagement();
    const pulling = server.post("pull", { model: "acme/tiny-GGUF:Q4_0" });
    await expect.poll(() => server.asked.length).toBe(1);
    server.report(half);
    await new Promise(setImmediate);
    server.finish.open();
    const reply = await pulling;
    expect(reply.headers["content-type"]).toContain("text/event-stream");
    const lines = reply.body.split("\n\n").filter((line) => line.startsWith("data: {"));
    const events = lines.map((line) => PullEvent.parse(JSON.parse(line.slice(6))));
    expect(events.map(({ status, bytes }) => [status, bytes])).toEqual([
      ["download", 5],
      ["done", 0],
    ]);
    expect(reply.body).toMatch(/data: \[DONE\]\n\n$/);
    expect(server.registry.list()).toMatchObject([{ id: "acme/tiny-GGUF:Q4_0", status: "available" }]);
  });

  it("responds once if it is not streamed", async () => {
    const server = await openManagement();
    server.finish.open();
    const reply = await server.post("pull", { model: "acme/tiny-GGUF", stream: false });
    expect(PullEvent.parse(reply.json())).toMatchObject({ status: "done", model: "acme/tiny-GGUF" });
  });

  it("is an ordinary error if it fails before the first progress", async () => {
    const server = await openManagement();
    const reply = await server.post("pull", { model: "nobody/nothing" });
    expect([reply.statusCode, reply.json()]).toMatchObject([404, { error: { code: "model_not_found" } }]);
  });

  it("is cancelled when its client disconnects", async () => {
    const server = await openManagement();
    const { library, registry, config } = server;
    const running = await serve(config, { logger: false, registry, library });
    await using _closing = { [Symbol.asyncDispose]: () => running.close({ deadlineMs: 0 }) };
    const leaving = new AbortController();
    const url = `${running.url}/api/v1/models/pull`;
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ model: "acme/tiny-GGUF" });
    const pulling = fetch(url, { method: "POST", headers, body, signal: leaving.signal });
    await expect.poll(() => server.asked.length).toBe(1);
    server.report(half);
    await (await pulling).body?.getReader().read();
    leaving.abort();
    await expect.poll(() => server.aborted.length).toBe(1);
    server.finish.open();
  });
});

describe("GET /api/v1/models/search", () => {
  it("lists repositories of the hub", async () => {
    const server = await openManagement();
    const reply = await server.app.inject({ url: "/api/v1/models/search?q=tiny%20model&limit=5" });
    expect(FoundRepositories.parse(reply.json()).data).toEqual([
      { repo: "acme/tiny-GGUF", downloads: 7, likes: 3, gated: false },
    ]);
    expect(server.asked).toEqual([["tiny model", 5]]);
  });

  it.each(["", "?q=", "?q=tiny&limit=0", "?q=tiny&limit=x"])("refuses %j", async (query) => {
    const server = await openManagement();
    const reply = await server.app.inject({ url: `/api/v1/models/search${query}` });
    expect([reply.statusCode, server.asked]).toEqual([400, []]);
  });
});

describe("GET /api/v1/models/recommended", () => {
  it("recommends a model to start with", async () => {
    const server = await openManagement();
    const reply = await server.app.inject({ url: "/api/v1/models/recommended" });
    expect(RecommendedModel.parse(reply.json())).toEqual({
      model: "small-chat",
      installed: false,
      size_bytes: 40,
      license: "MIT",
      reason: "starter",
      hub: "no_memory",
    });
  });
});

describe("GET /api/v1/models/describe", () => {
  it("lists the models of a repository and the memory that each needs", async () => {
    const server = await openManagement();
    const reply = await server.app.inject({ url: "/api/v1/models/describe?repo=acme/tiny-GGUF" });
    expect(OfferedRepository.parse(reply.json())).toEqual({
      repo: "acme/tiny-GGUF",
      license: null,
      gated: false,
      architecture: "llama",
      context_length: null,
      embeddings: false,
      models: [
        {
          id: "acme/tiny-GGUF:Q4_0",
          quantization: "Q4_0",
          size_bytes: 5,
          projector: false,
          memory_bytes: 9,
          fits: true,
        },
      ],
    });
  });

  it.each(["", "?repo=", `?repo=${"x".repeat(194)}`, "?repo=a/b&repo=c/d"])("refuses %j", async (query) => {
    const server = await openManagement();
    const reply = await server.app.inject({ url: `/api/v1/models/describe${query}` });
    expect([reply.statusCode, reply.json(), server.asked]).toMatchObject([
      400,
      { error: { param: "repo" } },
      [],
    ]);
  });
});

describe("POST /api/v1/models/alias and unalias", () => {
  it("add an alias that requests may use, and remove it", async () => {
    const server = await openManagement({}, [scriptedKnown("a"), scriptedKnown("b")]);
    const named = await server.post("alias", { model: "a", alias: "daily" });
    expect(ModelAliases.parse(named.json())).toEqual({ id: "a", aliases: ["daily"] });
    expect((await server.post("load", { model: "daily" })).json()).toMatchObject({ id: "a" });
    await server.post("alias", { model: "b", alias: "daily" });
    expect((await server.post("load", { model: "daily" })).json()).toMatchObject({ id: "b" });
    const { data } = ManagedModelList.parse((await server.app.inject({ url: "/api/v1/models" })).json());
    expect(data.map(({ id, aliases }) => [id, aliases])).toEqual([
      ["a", []],
      ["b", ["daily"]],
    ]);
    const unnamed = await server.post("unalias", { alias: "daily" });
    expect(ModelAliases.parse(unnamed.json())).toEqual({ id: "b", aliases: [] });
    expect((await server.post("load", { model: "daily" })).statusCode).toBe(404);
    expect((await server.post("unalias", { alias: "daily" })).statusCode).toBe(404);
  });

  it("also rename the model that the server was started with", async () => {
    const server = await openManagement({}, [scriptedKnown("a")]);
    server.registry.add(scriptedKnown("a", { aliases: ["./models/a.gguf"] }));
    await server.post("alias", { model: "a", alias: "daily" });
    expect((await server.post("load", { model: "daily" })).json()).toMatchObject({
      id: "a",
      aliases: ["daily"],
    });
  });

  it.each([
    ["alias", { model: "a" }, "alias"],
    ["alias", { model: "a", alias: "" }, "alias"],
    ["alias", { model: "a", alias: "x".repeat(101) }, "alias"],
    ["alias", { alias: "daily" }, "model"],
    ["unalias", {}, "alias"],
    ["unalias", { alias: ["daily"] }, "alias"],
  ])("%s refuses %j", async (path, body, param) => {
    const server = await openManagement({}, [scriptedKnown("a")]);
    const reply = await server.post(path, body);
    expect([reply.statusCode, reply.json()]).toMatchObject([400, { error: { param } }]);
  });
});

describe("POST /api/v1/models/remove", () => {
  it("removes a model that is not in memory, and forgets it", async () => {
    const server = await openManagement({}, [scriptedKnown("a")]);
    const reply = await server.post("remove", { model: "a" });
    expect(RemovedModel.parse(reply.json())).toEqual({ id: "a", removed: true, freed_bytes: 42 });
    expect(server.registry.list()).toEqual([]);
  });

  it("refuses to remove a loaded model", async () => {
    const server = await openManagement({}, [scriptedKnown("a")]);
    await server.registry.load("a");
    const reply = await server.post("remove", { model: "a" });
    expect([reply.statusCode, reply.json()]).toMatchObject([400, { error: { param: "model" } }]);
    expect(server.asked).toEqual([]);
  });
});

describe("management requests", () => {
  it.each(["pull", "remove", "load", "unload", "alias"])(
    "to %s are refused for unauthenticated clients",
    async (path) => {
      const open = await openManagement({ host: "0.0.0.0", noAuth: true }, [scriptedKnown("a")]);
      const payload = { model: "a", alias: "daily" };
      const refused = await open.post(path, payload);
      expect([refused.statusCode, refused.json()]).toMatchObject([403, { error: { code: "forbidden" } }]);
      const keyed = await openManagement({ host: "0.0.0.0", adminKey: ["secret"] }, [scriptedKnown("a")]);
      keyed.finish.open();
      const url = `/api/v1/models/${path}`;
      const headers = { authorization: "Bearer secret" };
      expect((await keyed.app.inject({ method: "POST", url, headers, payload })).statusCode).toBe(200);
    },
  );

  it("to the library return not_found if there is none", async () => {
    const app = await buildApp(testConfig(), { registry: new ModelRegistry({ waitingMax: 1 }) });
    const reply = await app.inject({ url: "/api/v1/models/search?q=x" });
    expect(reply.json()).toMatchObject({ error: { code: "not_found" } });
  });
});
