import { Job, JobList } from "@ingle/protocol";
import type { InjectOptions } from "fastify";
import { describe, expect, it } from "vitest";
import { buildApp } from "../../app.ts";
import type { ServerFlags } from "../../config.ts";
import { JobRunner } from "../../jobs/job-runner.ts";
import { ModelRegistry } from "../../models/registry.ts";
import { serve } from "../../serve.ts";
import { scriptedWork } from "../../../test/harness/scripted-work.ts";
import { testConfig } from "../../../test/harness/scripted-server.ts";

async function openServer(flags: ServerFlags = {}) {
  const work = scriptedWork();
  const registry = new ModelRegistry({ waitingMax: 9 });
  const jobs = new JobRunner({ library: work.library, registry });
  const app = await buildApp(testConfig(flags), { registry, library: work.library, jobs });
  const post = (path: string, payload: object, options: InjectOptions = {}) =>
    app.inject({ method: "POST", url: `/api/v1/jobs${path}`, payload, ...options });
  const list = async () => JobList.parse((await app.inject({ url: "/api/v1/jobs" })).json()).data;
  return { ...work, jobs, app, post, list };
}

describe("/api/v1/jobs", () => {
  it("starts jobs, lists them, and controls each", async () => {
    const server = await openServer();
    const begun = await server.post("", { kind: "pull", model: "a" });
    const { id, status } = Job.parse(begun.json());
    expect([begun.statusCode, status]).toEqual([200, "running"]);
    server.task("a").report("download", 5, 10);
    expect(await server.list()).toMatchObject([{ id, bytes: 5, total_bytes: 10, phase: "download" }]);
    for (const [action, becomes] of [
      ["pause", "paused"],
      ["resume", "running"],
      ["cancel", "cancelled"],
    ] as const) {
      const response = await server.post(`/${action}`, { id });
      expect([response.statusCode, Job.parse(response.json()).status]).toEqual([200, becomes]);
    }
    const refused = await server.post("/resume", { id });
    expect([refused.statusCode, refused.json()]).toMatchObject([400, { error: { param: "id" } }]);
  });

  it("accepts only valid requests", async () => {
    const server = await openServer();
    expect((await server.post("", { kind: "quantize", model: "a", quantization: "Q8_0" })).statusCode).toBe(
      200,
    );
    expect((await server.post("", { kind: "import", path: "/models" })).statusCode).toBe(200);
    for (const payload of [
      {},
      { kind: "remove", model: "a" },
      { kind: "pull" },
      { kind: "pull", model: 5 },
      { kind: "import" },
      { kind: "import", path: "" },
      { kind: "import", path: "x".repeat(5_000) },
      { kind: "quantize", model: "a" },
      { kind: "quantize", model: "a", quantization: "x".repeat(33) },
    ])
      expect([payload, (await server.post("", payload)).statusCode]).toEqual([payload, 400]);
    for (const payload of [{}, { id: "" }, { id: 5 }, { id: "x".repeat(65) }])
      expect([payload, (await server.post("/cancel", payload)).statusCode]).toEqual([payload, 400]);
    expect((await server.post("/cancel", { id: "nobody" })).statusCode).toBe(404);
  });

  it.each([
    [{}, "kind", "kind must be pull, import or quantize"],
    [{ kind: "import", path: 5 }, "path", "path must be a string of 1 to 4096 characters"],
    [
      { kind: "quantize", model: "a", quantization: "" },
      "quantization",
      "quantization must be a string of 1 to 32 characters, such as Q4_K_M",
    ],
  ])("says what is wrong with %j", async (payload, param, message) => {
    const server = await openServer();
    expect((await server.post("", payload)).json()).toMatchObject({ error: { param, message } });
  });

  it("requires the right to manage the server", async () => {
    const server = await openServer({ apiKey: ["use"], adminKey: ["manage"] });
    const headers = { authorization: "Bearer use" };
    expect((await server.post("", { kind: "pull", model: "a" }, { headers })).statusCode).toBe(403);
    expect((await server.app.inject({ url: "/api/v1/jobs", headers })).statusCode).toBe(403);
    for (const action of ["/pause", "/resume", "/cancel"])
      expect((await server.post(action, { id: "x" }, { headers })).statusCode).toBe(403);
    expect(server.begun).toEqual([]);
  });

  it("returns not_found without a library", async () => {
    const app = await buildApp(testConfig(), { registry: new ModelRegistry({ waitingMax: 1 }) });
    expect((await app.inject({ url: "/api/v1/jobs" })).statusCode).toBe(404);
  });
});

describe("an import", () => {
  const payload = { kind: "import", path: "/etc" };
  const bearer = { authorization: "Bearer manage" };
  const status = async (flags: ServerFlags, options: InjectOptions): Promise<[number, string[]]> => {
    const server = await openServer({ adminKey: ["manage"], ...flags });
    return [(await server.post("", payload, options)).statusCode, server.begun];
  };

  it("is accepted from programs on this machine, and from pages that the server has served", async () => {
    expect(await status({}, { headers: bearer })).toEqual([200, ["/etc"]]);
    const own = {
      ...bearer,
      host: "localhost:1337",
      origin: "http://localhost:1337",
      "sec-fetch-site": "same-origin",
    };
    expect(await status({}, { headers: own })).toEqual([200, ["/etc"]]);
  });

  it.each<[what: string, flags: ServerFlags, options: InjectOptions]>([
    ["another machine's address", { host: "0.0.0.0" }, { headers: bearer, remoteAddress: "192.0.2.7" }],
    ["a server that other machines reach", { host: "0.0.0.0" }, { headers: bearer }],
    ["a proxy", {}, { headers: { ...bearer, "x-forwarded-for": "192.0.2.7" } }],
    [
      "a page of another site",
      { allowOrigin: ["https://app.example"] },
      { headers: { ...bearer, origin: "https://app.example" } },
    ],
    [
      "a page on another port",
      {},
      {
        headers: {
          ...bearer,
          host: "localhost:1337",
          origin: "http://localhost:3000",
          "sec-fetch-site": "same-site",
        },
      },
    ],
  ])("is refused for %s, whatever its key", async (_what, flags, options) => {
    expect(await status(flags, options)).toEqual([403, []]);
  });
});

it("jobs continue when their client disconnects, and end with the server", async () => {
  const { library, task } = scriptedWork();
  const registry = new ModelRegistry({ waitingMax: 9 });
  const server = await serve(testConfig(), { logger: false, registry, library });
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ kind: "pull", model: "a" });
  await (await fetch(`${server.url}/api/v1/jobs`, { method: "POST", headers, body })).json();
  expect(task("a").signal.aborted).toBe(false);
  await server.close({ deadlineMs: 0 });
  expect(task("a").signal.aborted).toBe(true);
});
