// The MCP servers of the app: its control address over a real socket, a real server's process, and who may use either.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Ingle } from "@ingle/client";
import type { InjectOptions } from "fastify";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KeyRing } from "../src/access/keys.ts";
import { buildApp } from "../src/app.ts";
import { McpControl } from "../src/mcp/mcp-control.ts";
import { openDesktopApp, type DesktopApp } from "../src/desktop-app.ts";
import { scriptedControl } from "./harness/scripted-control.ts";
import { scriptedKnown } from "./harness/scripted-models.ts";
import { scriptedApp, scriptedRegistry, testConfig } from "./harness/scripted-server.ts";
import { variantNames } from "../src/variants.ts";

const program = fileURLToPath(new URL("tool-server.js", import.meta.url));

let folder: string;
let log: string;
let app: DesktopApp;
let page: Ingle;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-app-mcp-"));
  log = path.join(folder, "log");
  await open();
});
afterEach(async () => {
  await app.close({ deadlineMs: 0 });
  await rm(folder, { recursive: true, force: true });
});

async function open(env: NodeJS.ProcessEnv = {}): Promise<void> {
  const models = {
    known: async () => [{ ...scriptedKnown("seeing"), about: { readsImages: true } }, scriptedKnown("blind")],
  };
  app = await openDesktopApp({
    env,
    port: 0,
    configDir: folder,
    source: () => models,
    logger: { level: "silent", stream: { write: () => true } },
    page: { files: new Map() },
    onWarning: () => {},
  });
  page = new Ingle({ baseUrl: app.url, apiKey: app.token, maxRetries: 0 });
}

const tools = (fields: object = {}) => ({ command: process.execPath, args: [program, log], ...fields });

async function configure(mcpServers: object, limits: object = {}): Promise<void> {
  await writeFile(path.join(folder, "mcp.json"), JSON.stringify({ mcpServers, limits }));
}

/** What the server's process has noted so far. */
async function noted(): Promise<string[]> {
  const text = await readFile(log, "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

const call = (
  tool: string,
  approval?: "once" | "always" | "no",
  options: { model?: string; signal?: AbortSignal } = {},
) =>
  page.mcp.call(
    { server: "tools", tool, arguments: { a: 2, b: 3 }, model: options.model ?? "blind", approval },
    { signal: options.signal },
  );

describe("servers of the app", () => {
  it("start when the page asks for it, and never before; they end with the app", async () => {
    await configure({ tools: tools() });
    expect(await page.mcp.list()).toEqual({
      object: "list",
      data: [{ name: "tools", kind: "stdio", state: "stopped", problems: [], tools: [] }],
      file: path.join(folder, "mcp.json"),
      problem: null,
      rounds: 25,
    });
    await page.mcp.list();
    expect(await noted()).toEqual([]);
    const { data } = await page.mcp.start("tools");
    expect(data).toMatchObject([{ state: "ready", problems: [] }]);
    expect(data[0]?.tools[0]).toEqual({
      name: "add",
      tool: "add",
      title: null,
      description: "Adds two numbers",
      parameters: expect.objectContaining({ required: ["a", "b"] }),
      allowed: false,
    });
    await page.mcp.start("tools");
    const [started = "", ...more] = await noted();
    expect(more).toEqual([]);
    await app.close({ deadlineMs: 0 });
    const isRunning = () => process.kill(Number(started.split(" ")[1]), 0);
    expect(isRunning).toThrow("ESRCH");
  });

  it("end when the page stops them", async () => {
    await configure({ tools: tools() });
    await page.mcp.start("tools");
    expect((await page.mcp.stop("tools")).data).toMatchObject([{ state: "stopped", tools: [] }]);
    expect(await call("add", "once")).toMatchObject({ status: "failed" });
    expect(await noted()).toHaveLength(1);
  });

  it("say in a sentence why they cannot be started, and why they have ended", async () => {
    await configure({
      tools: tools(),
      missing: { command: "no-such-program" },
      off: tools({ disabled: true }),
    });
    expect((await page.mcp.start("missing")).data[1]).toMatchObject({
      state: "failed",
      problems: ["It cannot be started: there is no program no-such-program."],
    });
    await expect(page.mcp.start("off")).rejects.toMatchObject({ status: 400 });
    await expect(page.mcp.start("nobody")).rejects.toMatchObject({ status: 404, param: "name" });
    await page.mcp.start("tools");
    const sentence = 'The MCP server "tools" has ended: Error: out of luck.';
    expect(await call("crash", "once")).toEqual({
      status: "failed",
      content: [{ type: "text", text: `Error: ${sentence}` }],
    });
    expect((await page.mcp.list()).data[0]).toMatchObject({
      state: "ended",
      problems: ["It has ended: Error: out of luck."],
    });
    expect((await page.mcp.start("tools")).data[0]).toMatchObject({ state: "ready" });
  });

  it("come from the file as it is now; a file that cannot be used is a problem, a missing one is none", async () => {
    expect(await page.mcp.list()).toMatchObject({ data: [], problem: null });
    await configure({ one: tools() });
    expect((await page.mcp.list()).data).toMatchObject([{ name: "one" }]);
    await writeFile(path.join(folder, "mcp.json"), "{");
    expect(await page.mcp.list()).toMatchObject({
      data: [],
      problem: expect.stringContaining("It is not JSON"),
    });
    await configure({ two: tools() }, { rounds: 3 });
    expect(await page.mcp.list()).toMatchObject({ data: [{ name: "two" }], problem: null, rounds: 3 });
  });

  it.each([
    ["none", { file: null, problem: null }],
    [
      "/no/such/mcp.json",
      { file: "/no/such/mcp.json", problem: "/no/such/mcp.json: There is no such file." },
    ],
  ])("with INGLE_MCP=%s", async (file, expected) => {
    await app.close({ deadlineMs: 0 });
    await open({ INGLE_MCP: file });
    await configure({ tools: tools() });
    expect(await page.mcp.list()).toMatchObject({ data: [], ...expected });
  });
});

describe("a call", () => {
  it("runs only with an approval: once, or always until the server is stopped", async () => {
    await configure({ tools: tools() });
    await page.mcp.start("tools");
    const unasked = { status: 403, code: "forbidden", param: "approval" };
    const sum = { status: "done", content: [{ type: "text", text: "The sum is 5." }] };
    await expect(call("add")).rejects.toMatchObject(unasked);
    expect(await call("add", "no")).toEqual({
      status: "refused",
      content: [{ type: "text", text: "Error: The user did not allow this call." }],
    });
    expect(await noted()).toHaveLength(1);
    expect(await call("add", "once")).toEqual(sum);
    await expect(call("add")).rejects.toMatchObject(unasked);
    expect(await call("add", "always")).toEqual(sum);
    expect(await call("add")).toEqual(sum);
    await expect(call("fail")).rejects.toMatchObject(unasked);
    expect((await page.mcp.list()).data[0]?.tools.filter(({ allowed }) => allowed)).toMatchObject([
      { tool: "add" },
    ]);
    expect((await noted()).slice(1)).toEqual(Array.from({ length: 3 }, () => 'called add {"a":2,"b":3}'));
    await page.mcp.stop("tools");
    await page.mcp.start("tools");
    await expect(call("add")).rejects.toMatchObject(unasked);
  });

  it("runs without one if a rule of the file allows it, and not at all if the file hides the tool", async () => {
    await configure({ tools: tools({ alwaysAllow: ["add"], disabledTools: ["fail"] }) });
    await page.mcp.start("tools");
    expect(await call("add")).toMatchObject({ status: "done" });
    expect(await call("fail", "once")).toMatchObject({
      status: "failed",
      content: [{ text: 'Error: There is no tool "fail" of the MCP server "tools".' }],
    });
  });

  it("returns failures, and images only to models that read them", async () => {
    await configure({ tools: tools() });
    await page.mcp.start("tools");
    expect(await call("fail", "once")).toEqual({
      status: "failed",
      content: [{ type: "text", text: "Error:\nthere is no such city" }],
    });
    expect((await call("picture", "once", { model: "seeing" })).content).toEqual([
      { type: "text", text: "Here:" },
      { type: "image_url", image_url: { url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) } },
    ]);
    expect((await call("picture", "once")).content).toEqual([
      { type: "text", text: "Here:\n[Left out: an image, which this model cannot see]" },
    ]);
    await expect(call("add", "once", { model: "nobody" })).rejects.toMatchObject({ code: "model_not_found" });
  });

  it("is cancelled with its request, and at the limit of the file", async () => {
    await configure({ tools: tools() }, { callMs: 1_000 });
    await page.mcp.start("tools");
    const stop = new AbortController();
    const running = call("wait", "once", { signal: stop.signal });
    await expect.poll(noted).toContain('called wait {"a":2,"b":3}');
    stop.abort(new Error("stopped by the test"));
    await expect(running).rejects.toThrow("stopped by the test");
    await expect.poll(noted).toContain("cancelled");
    expect(await call("wait", "once")).toMatchObject({
      status: "failed",
      content: [{ text: 'Error: The MCP server "tools" did not answer within 1 s.' }],
    });
  });

  it("is refused while too many others run", async () => {
    await configure({ tools: tools() });
    await page.mcp.start("tools");
    const stop = new AbortController();
    const running = Promise.allSettled(
      Array.from({ length: 16 }, () => call("wait", "once", { signal: stop.signal })),
    );
    await expect.poll(async () => (await noted()).length).toBe(17);
    await expect(call("add", "once")).rejects.toMatchObject({ status: 429, code: "overloaded" });
    stop.abort();
    await running;
    await expect.poll(() => call("add", "once").catch(() => undefined)).toMatchObject({ status: "done" });
  });
});

/** A request to each route. */
const requests: (InjectOptions & { method?: "POST"; url: string })[] = [
  { url: "/api/v1/mcp" },
  { method: "POST", url: "/api/v1/mcp/start", payload: { name: "tools" } },
  { method: "POST", url: "/api/v1/mcp/stop", payload: { name: "tools" } },
  {
    method: "POST",
    url: "/api/v1/mcp/call",
    payload: { server: "tools", tool: "add", arguments: {}, model: "scripted-model", approval: "once" },
  },
];

describe("who may use the routes", () => {
  const token = "t".repeat(43);
  const host = "127.0.0.1:1336";
  const authorization = `Bearer ${token}`;

  /** The statuses of a request to each route of the control address. */
  async function statuses(change: InjectOptions): Promise<number[]> {
    await configure({ tools: tools() });
    const { registry } = await scriptedRegistry();
    await using control = await scriptedControl();
    await using mcp = new McpControl({
      file: { path: path.join(folder, "mcp.json"), isNamed: true },
      env: {},
    });
    const keys = new KeyRing();
    keys.addToken(token);
    keys.needKey();
    const built = await buildApp(testConfig({ port: 1336 }), {
      registry,
      keys,
      app: { token, server: control.server, mcp },
    });
    const found: number[] = [];
    for (const request of requests) found.push((await built.inject({ ...request, ...change })).statusCode);
    await built.close();
    await registry[Symbol.asyncDispose]();
    return found;
  }

  it("programs with the token, and the app's own page", async () => {
    expect(await statuses({ headers: { host, authorization } })).toEqual([200, 200, 200, 200]);
    const own = { origin: `http://${host}`, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };
    expect(await statuses({ headers: { host, authorization, ...own } })).toEqual([200, 200, 200, 200]);
  });

  it.each<[string, number, InjectOptions]>([
    ["without a token", 401, { headers: { host } }],
    ["with a wrong token", 401, { headers: { host, authorization: `Bearer ${"x".repeat(43)}` } }],
    ["another port's page", 403, { headers: { host, authorization, origin: "http://127.0.0.1:3000" } }],
    ["another site's page", 403, { headers: { host, authorization, origin: "https://evil.example" } }],
    ["a page of unknown origin", 403, { headers: { host, authorization, "sec-fetch-site": "cross-site" } }],
    ["a name that resolves to this machine", 403, { headers: { host: "evil.example:1336", authorization } }],
    ["another machine", 403, { headers: { host, authorization }, remoteAddress: "192.0.2.1" }],
    ["a tunnel", 403, { headers: { host, authorization, "x-forwarded-for": "192.0.2.1" } }],
  ])("nobody else: %s", async (_who, status, change) => {
    expect(await statuses(change)).toEqual(requests.map(() => status));
    expect(await noted()).toEqual([]);
  });
});

describe("other servers have no such routes", () => {
  it("the /v1 server that the app starts, even for a management key", async () => {
    await configure({ tools: tools({ alwaysAllow: ["*"] }) });
    await page.mcp.start("tools");
    const { key } = await page.serverControl.createKey({ name: "one", scope: "management" });
    const { url } = await page.serverControl.start();
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    for (const prefix of ["", "/v1"]) {
      for (const { method = "GET", url: route, payload } of requests) {
        const body = payload === undefined ? {} : { body: JSON.stringify(payload) };
        const asked = `${url}${prefix}${route.replace(prefix === "" ? "" : "/api/v1", "")}`;
        expect((await fetch(asked, { method, headers, ...body })).status, asked).toBe(404);
      }
    }
    const own = await fetch(`${app.url}/v1/mcp`, { headers: { authorization: `Bearer ${app.token}` } });
    expect(own.status).toBe(404);
    expect((await noted()).slice(1)).toEqual([]);
  });

  it.each(variantNames)("the variant %s of `ingle serve`", async (variant) => {
    await using server = await scriptedApp({ flags: { variant, host: "127.0.0.1" } });
    for (const request of requests)
      expect((await server.app.inject({ headers: { host: "localhost" }, ...request })).statusCode).toBe(404);
  });
});
