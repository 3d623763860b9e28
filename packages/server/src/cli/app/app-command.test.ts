import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { InstalledModel } from "@ingle/engine";
import type { ServerControl } from "@ingle/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installedTiny, scriptedEngine, testWorld, type TestWorld } from "../../../test/cli-context.ts";
import type { Engine } from "../context.ts";
import { main } from "../main.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-app-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

function world(options: Parameters<typeof testWorld>[0] & { models?: InstalledModel[] } = {}): TestWorld {
  const { models = [], env, ...others } = options;
  const engine = scriptedEngine({ pieces: ["Paris"] }, { listModels: async () => models });
  return testWorld({ engine, env: { INGLE_HOME: home, ...env }, ...others });
}

/** Starts `ingle app` and waits for its address; port 0 unless the arguments set another one. */
async function started(one: TestWorld, ...args: string[]) {
  const exit = main("ingle", ["app", "--port", "0", ...args], one.context);
  await Promise.race([one.outHas("address"), exit]);
  const [address = ""] = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/.exec(one.out()) ?? [];
  const { origin, searchParams } = new URL(address);
  const authorization = `Bearer ${searchParams.get("token")}`;
  const ask = async (url: string, body?: object): Promise<Response> =>
    await fetch(origin + url, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const control = async (order = "", body?: object): Promise<ServerControl> =>
    (await (await ask(`/api/v1/server${order}`, body)).json()) as ServerControl;
  return { exit, address, origin, ask, control };
}

async function occupy(port = 0): Promise<{ port: number } & AsyncDisposable> {
  const server: Server = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: close };
}

describe("ingle app", () => {
  it("starts without any model, opens the page with a ticket, and stops at Ctrl-C", async () => {
    const one = world();
    const { exit, address, origin, ask, control } = await started(one);
    expect(one.out()).toContain(`address  ${address}`);
    expect(one.opened).toHaveLength(1);
    expect(one.opened[0]).toMatch(new RegExp(`^${origin}/\\?token=\\d+\\.[\\w-]+\\.[\\w-]+$`));
    expect(one.opened[0]).not.toContain(new URL(address).searchParams.get("token"));
    const cookies: (string | null)[] = [];
    for (const at of [one.opened[0] ?? "", one.opened[0] ?? "", address, address])
      cookies.push((await fetch(at, { redirect: "manual" })).headers.get("set-cookie"));
    expect(cookies.map((cookie) => cookie !== null)).toEqual([true, false, true, true]);
    expect(await (await ask("/v1/models")).json()).toMatchObject({ data: [] });
    expect(await control()).toMatchObject({ status: "stopped", can_control: true });
    expect((await fetch(`${origin}/api/v1/state`)).status).toBe(401);
    one.signals.emit("SIGINT");
    expect(await exit).toBe(0);
    expect(one.err()).toContain("Stopped.");
    await expect(fetch(origin)).rejects.toThrow();
    expect(await readdir(path.join(home, "run"))).toEqual([]);
  });

  it("writes only lines of JSON to stderr with INGLE_LOG_FORMAT=json", async () => {
    const one = world({ env: { INGLE_LOG_FORMAT: "json" }, hasBrowser: false });
    const { exit } = await started(one);
    one.signals.emit("SIGINT");
    expect(await exit).toBe(0);
    const lines = one.err().trimEnd().split("\n");
    const said = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(said[0]).toBe("Could not open a browser. Open the address yourself.");
    expect(said).toContain("Stopped.");
  });

  it("that is already running is found by a second one, which opens its page", async () => {
    const first = world();
    const { exit, address, origin } = await started(first);
    const second = world();
    expect(await main("ingle", ["app"], second.context)).toBe(0);
    expect(second.out()).toContain(`address  ${address} (already running)`);
    const opened = await fetch(second.opened[0] ?? "", { redirect: "manual" });
    expect([new URL(opened.url).origin, opened.status]).toEqual([origin, 303]);
    expect(opened.headers.get("set-cookie")).toContain("HttpOnly");
    const third = world();
    expect(await main("ingle", ["app", "--no-open"], third.context)).toBe(0);
    expect(third.opened).toEqual([]);
    first.signals.emit("SIGINT");
    await exit;
    const fourth = world();
    const again = await started(fourth);
    expect(fourth.out()).not.toContain("runs already");
    fourth.signals.emit("SIGINT");
    expect(await again.exit).toBe(0);
  });

  it.each([
    [["--no-open"], {}, 0],
    [[], { INGLE_NO_OPEN: "true" }, 0],
    [[], { INGLE_NO_OPEN: "0" }, 1],
    [[], {}, 1],
  ] as const)("with %j and %j opens %i browsers", async (args, env, count) => {
    const one = world({ env });
    const { exit } = await started(one, ...args);
    one.signals.emit("SIGINT");
    await exit;
    expect(one.opened).toHaveLength(count);
  });

  it("says so if no browser can be opened, and continues", async () => {
    const one = world({ hasBrowser: false });
    const { exit, ask } = await started(one);
    await one.errHas("Could not open a browser. Open the address yourself.");
    expect((await ask("/api/v1/state")).status).toBe(200);
    one.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });

  it("uses the next port that is not a default of a server, and says so", async () => {
    await using taken = await occupy();
    const one = world();
    const exit = main("ingle", ["app"], {
      ...one.context,
      env: { ...one.context.env, INGLE_APP_PORT: String(taken.port) },
    });
    await one.outHas("address");
    expect(one.out()).toContain(`(port ${taken.port} is in use; this is the next free one)`);
    one.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });

  it.each([
    [["--port", "70000"], {}, "--port must be at most 65535."],
    [[], { INGLE_APP_PORT: "x" }, "INGLE_APP_PORT must be a whole number."],
    [[], { INGLE_NO_OPEN: "maybe" }, "INGLE_NO_OPEN must be true or false."],
    [[], { INGLE_CTX: "x" }, "INGLE_CTX must be a whole number."],
  ])("with %j and %j says what is wrong", async (args, env, sentence) => {
    const one = world({ env });
    expect(await main("ingle", ["app", ...args], one.context)).toBe(2);
    expect(one.err()).toBe(`ingle: ${sentence}\n`);
  });

  it("ignores variables for the address or keys of ingle serve", async () => {
    const env = {
      PORT: "1",
      INGLE_HOST: "0.0.0.0",
      INGLE_API_KEYS: "x",
      INGLE_TLS_CERT: "x",
      MODEL_NAME: "x",
    };
    const one = world({ env });
    const { exit, control } = await started(one);
    expect((await control()).settings).toMatchObject({ host: "127.0.0.1", port: 1337, models: [] });
    one.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });
});

describe("the server of the app", () => {
  it("is started, used without the token, and stopped; the model stays for the page", async () => {
    const one = world({ models: [installedTiny] });
    await using taken = await occupy();
    const { exit, ask, control } = await started(one);
    await control("/settings", { port: taken.port, models: [installedTiny.id] });
    const running = await control("/start", {});
    expect(running).toMatchObject({ status: "running", moved_from_port: taken.port, needs_key: false });
    const url = running.url ?? "";
    const list = await (await fetch(`${url}/v1/models`)).json();
    expect(list).toMatchObject({ data: [{ id: installedTiny.id, status: "loaded" }] });
    expect((await fetch(url)).status).toBe(404); // its page is at the control address
    expect((await (await fetch(`${url}/api/v1/server`)).json()) as ServerControl).toMatchObject({
      can_control: false,
      status: "running",
    });
    expect((await fetch(`${url}/api/v1/server/stop`, post({}))).status).toBe(400);
    expect(await control("/stop", {})).toMatchObject({ status: "stopped", url: null });
    await expect(fetch(url)).rejects.toThrow();
    expect(await (await ask("/v1/models")).json()).toMatchObject({ data: [{ status: "loaded" }] });
    one.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });

  it("requires a key as soon as one exists, and refuses a revoked one at once", async () => {
    const one = world();
    const { exit, ask, control } = await started(one);
    await control("/settings", { port: await freePort() });
    const { url } = await control("/start", {});
    const status = async (key: string): Promise<number> =>
      (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status("any")).toBe(200);
    const made = (await (
      await ask("/api/v1/server/keys", { name: "editor", scope: "inference" })
    ).json()) as {
      id: string;
      key: string;
    };
    expect([await status("any"), await status(made.key)]).toEqual([401, 200]);
    expect(await control()).toMatchObject({ needs_key: true });
    expect((await ask("/api/v1/state")).status).toBe(200);
    await ask("/api/v1/server/keys/revoke", { id: made.id });
    expect([await status("any"), await status(made.key)]).toEqual([401, 401]);
    one.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });

  it("starts with the app if so configured, with its models, and the terminal says so", async () => {
    const port = await freePort();
    const first = world({ models: [installedTiny] });
    const { exit, control } = await started(first);
    await control("/settings", { port, models: [installedTiny.id], starts_with_app: true });
    first.signals.emit("SIGINT");
    await exit;
    const second = world({ models: [installedTiny] });
    const again = await started(second);
    await second.errHas(`The server is running at http://127.0.0.1:${port}.`);
    expect(await again.control()).toMatchObject({
      status: "running",
      settings: { models: [installedTiny.id] },
    });
    second.signals.emit("SIGINT");
    expect(await again.exit).toBe(0);
    const third = world();
    const last = await started(third);
    await third.errHas("The server could not start: The model acme/tiny-GGUF:Q4_0 could not be loaded:");
    third.signals.emit("SIGINT");
    expect(await last.exit).toBe(0);
  });

  it("lets its requests finish when the app stops", async () => {
    const engine = scriptedEngine(
      { pieces: ["a", "b", "c"], delayMs: 40 },
      { listModels: async () => [installedTiny] },
    );
    const one = testWorld({ engine, env: { INGLE_HOME: home } });
    const { exit, control } = await started(one);
    await control("/settings", { port: await freePort() });
    const { url } = await control("/start", {});
    const chat = { model: installedTiny.id, stream: true, messages: [{ role: "user", content: "Hi" }] };
    const reply = await fetch(`${url}/v1/chat/completions`, post(chat));
    one.signals.emit("SIGINT");
    expect(await reply.text()).toContain("data: [DONE]");
    expect(await exit).toBe(0);
    expect(one.err()).toContain("Stopping: 1 request is still running. Press Ctrl-C again to stop at once.");
  });

  it("that other machines could reach is refused without a key, with what to do", async () => {
    const one = world();
    const { exit, ask, control } = await started(one);
    await control("/settings", { host: "0.0.0.0", port: await freePort() });
    expect(await control("/start", {})).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^Other machines can reach the server on 0\.0\.0\.0.*Create one/),
    });
    await ask("/api/v1/server/keys", { name: "a", scope: "inference" });
    expect(await control("/start", {})).toMatchObject({ status: "running", needs_key: true });
    one.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });

  it("on an address that this machine does not have fails in the page's words", async () => {
    const one = world();
    const { exit, ask, control } = await started(one);
    await ask("/api/v1/server/keys", { name: "a", scope: "inference" });
    await control("/settings", { host: "192.0.2.1" });
    expect(await control("/start", {})).toMatchObject({
      status: "failed",
      error: "192.0.2.1 is not an address of this machine; choose another host.",
    });
    one.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });

  it("reloads models when the number of parallel requests changes", async () => {
    const loads: unknown[] = [];
    const scripted = scriptedEngine({}, { listModels: async () => [installedTiny] });
    const load: Engine["load"] = async (file, options) => {
      loads.push(options?.parallel);
      return await scripted.load(file, options);
    };
    const one = testWorld({ engine: { ...scripted, load }, env: { INGLE_HOME: home, INGLE_PARALLEL: "5" } });
    const { exit, ask, control } = await started(one);
    await ask("/api/v1/models/load", { model: installedTiny.id });
    const startAndStop = async (parallel: number | null): Promise<void> => {
      await control("/settings", { port: await freePort(), parallel });
      expect(await control("/start", {})).toMatchObject({ status: "running" });
      await control("/stop", {});
    };
    await startAndStop(null);
    expect(loads).toEqual([5]);
    await startAndStop(3);
    expect(loads).toEqual([5, 3]);
    await startAndStop(3);
    await startAndStop(null);
    expect(loads).toEqual([5, 3, 5]);
    one.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });
});

async function freePort(): Promise<number> {
  await using taken = await occupy();
  return taken.port;
}

function post(body: object): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}
