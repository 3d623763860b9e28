import { execFile } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { promisify } from "node:util";
import { EngineError } from "@ingle/engine";
import { describe, expect, it } from "vitest";
import { scriptedEngine, testWorld, type TestWorld } from "../../../test/cli-context.ts";
import { variants } from "../../variants.ts";
import type { Engine } from "../context.ts";
import { main } from "../main.ts";

/** Starts `ingle serve` and waits until it is ready; port 0 unless the arguments set another one. */
async function served(world: TestWorld, ...args: string[]) {
  const exit = main("ingle", ["serve", "--port", "0", ...args], world.context);
  await Promise.race([world.outHas("Ctrl-C"), exit]);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(world.out())?.[0] ?? "";
  return { exit, url };
}

async function chat(url: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Hi" }], ...body }),
  });
}

describe("ingle serve", () => {
  it("prints the address, the model's id and a curl line that works in sh", async () => {
    const world = testWorld({ engine: scriptedEngine({ pieces: ["Paris"] }) });
    const { exit } = await served(world);
    expect(world.out()).toContain("Ingle is ready.");
    expect(world.out()).toMatch(/KV cache +1000 KiB for 1,000 tokens/);
    expect(world.out()).toMatch(/model +tinyllama-1\.1b-chat\n/);
    const curl = /curl .*/.exec(world.out())?.[0] ?? "";
    const { stdout } = await promisify(execFile)("/bin/sh", ["-c", curl], { timeout: 10_000 });
    expect(JSON.parse(stdout)).toMatchObject({ choices: [{ message: { content: "Paris" } }] });
    world.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });

  it("says in its last three lines where to chat, how to ask from a shell, and how to stop", async () => {
    const world = testWorld({ engine: scriptedEngine() });
    const { exit, url } = await served(world);
    const [page = "", shell = "", stop = ""] = world.out().trimEnd().split("\n").slice(-3);
    expect(page).toMatch(/^Chat in a browser +http:\S+\/$/);
    expect((await fetch(page.split(/ {2,}/)[1] ?? "")).headers.get("content-type")).toContain("text/html");
    expect(shell).toMatch(new RegExp(`^Ask from a shell +curl ${url}/v1/chat/completions `));
    expect(stop).toMatch(/^Stop +press Ctrl-C$/);
    world.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });

  it("names the reference of the API where there is no page", async () => {
    const world = testWorld({ engine: scriptedEngine() });
    const { exit, url } = await served(world, "--no-ui");
    expect(world.out()).toContain(`API reference     ${url}/docs\n`);
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    world.signals.emit("SIGINT");
    await exit;
  });

  it("writes only lines of JSON to stderr with --log-format json", async () => {
    const world = testWorld({ engine: scriptedEngine(), isTTY: true });
    const { exit, url } = await served(world, "--log-format", "json");
    world.signals.emit("SIGINT");
    expect(await exit).toBe(0);
    const lines = world.err().trimEnd().split("\n");
    const parsed = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
    expect(parsed.every(({ level }) => level === 30)).toBe(true);
    expect(parsed).toContainEqual(
      expect.objectContaining({ msg: "ready", address: url, model: "tinyllama-1.1b-chat" }),
    );
    expect(parsed.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([expect.stringContaining("No --model given"), "Stopping.", "Stopped."]),
    );
  });

  it("lets running requests finish at the first signal, says so, and exits with 0", async () => {
    const world = testWorld({ engine: scriptedEngine({ pieces: ["a", "b", "c"], delayMs: 40 }) });
    const { exit, url } = await served(world);
    const reply = await chat(url, { model: "tinyllama-1.1b-chat", stream: true });
    world.signals.emit("SIGTERM");
    const text = await reply.text();
    expect(text).toContain("data: [DONE]");
    expect(await exit).toBe(0);
    expect(world.err()).toContain(
      "Stopping: 1 request is still running. Press Ctrl-C again to stop at once.",
    );
    expect(world.err()).toContain("Stopped.");
    await expect(fetch(url)).rejects.toThrow();
  });

  it("cuts running requests after --drain-timeout, and still exits with 0", async () => {
    const pieces = Array.from({ length: 1_000 }, () => "x");
    const world = testWorld({ engine: scriptedEngine({ pieces, delayMs: 20 }) });
    const { exit, url } = await served(world, "--drain-timeout", "50ms");
    const reply = await chat(url, { model: "tinyllama-1.1b-chat", stream: true });
    world.signals.emit("SIGTERM");
    expect(await reply.text()).toMatch(/"code":"shutting_down"[^\n]*\n\n$/);
    expect(await exit).toBe(0);
  });

  it("unloads the model after --idle-unload, and loads it again for the next request", async () => {
    const world = testWorld({ engine: scriptedEngine({ pieces: ["again"] }) });
    const { exit, url } = await served(world, "--idle-unload", "1s");
    const readiness = async (): Promise<unknown> => (await fetch(`${url}/readyz`)).json();
    await expect.poll(readiness, { timeout: 5_000 }).toMatchObject({ status: "idle" });
    const reply = await chat(url, { model: "tinyllama-1.1b-chat" });
    expect(await reply.json()).toMatchObject({ choices: [{ message: { content: "again" } }] });
    world.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });

  it("exits at once at a second signal", async () => {
    const world = testWorld({ engine: scriptedEngine({ pieces: ["a", "b"], delayMs: 100 }) });
    const { exit, url } = await served(world);
    const reply = await chat(url, { model: "tinyllama-1.1b-chat", stream: true });
    world.signals.emit("SIGINT");
    world.clock.ms += 1000;
    world.signals.emit("SIGINT");
    expect(world.exits).toEqual([130]);
    await reply.text();
    await exit;
  });

  it("responds that the model is loading, and exits with 130 when interrupted meanwhile", async () => {
    const engine = scriptedEngine();
    const world = testWorld({
      engine: {
        ...engine,
        load: (_file, options) =>
          new Promise((_resolve, reject) => {
            world.context.stderr.write("load began\n");
            options?.signal?.addEventListener("abort", () => reject(options.signal?.reason as Error));
          }),
      },
    });
    const probe = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => probe.once("listening", resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const exit = main("ingle", ["serve", "--variant", "developer", "--port", String(port)], world.context);
    await world.errHas("load began");
    // The load begins before the server listens.
    const isThere = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/livez`).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(isThere, { timeout: 10_000 }).toBe(true);
    const reply = await chat(`http://127.0.0.1:${port}`, { model: "tinyllama-1.1b-chat" });
    expect(reply.status).toBe(503);
    world.signals.emit("SIGINT");
    expect(await exit).toBe(130);
    expect(world.out()).toBe("");
  });

  it("takes the next free port in the desktop variant and says so, and fails in others", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const port = String((taken.address() as AddressInfo).port);
    try {
      const world = testWorld({ engine: scriptedEngine() });
      const exit = main("ingle", ["serve", "--port", port], world.context);
      await world.outHas("Ctrl-C");
      expect(world.out()).toContain(`(port ${port} is in use; this is the next free one)`);
      expect(world.out()).not.toContain(`127.0.0.1:${port}/`);
      world.signals.emit("SIGINT");
      expect(await exit).toBe(0);

      const strict = testWorld({ engine: scriptedEngine() });
      expect(await main("ingle_lm.server", ["--port", port], strict.context)).toBe(2);
      expect(strict.err()).toContain(`ingle_lm.server: Port ${port} on 127.0.0.1 is taken`);
    } finally {
      taken.close();
    }
  });

  it("reports that its port is in use without waiting for the model", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const port = String((taken.address() as AddressInfo).port);
    try {
      const load: Engine["load"] = (_file, options) =>
        new Promise((_resolve, reject) => {
          options?.signal?.addEventListener("abort", () => reject(options.signal?.reason as Error));
        });
      const world = testWorld({ engine: scriptedEngine({}, { load }) });
      expect(await main("ingle_lm.server", ["--port", port], world.context)).toBe(2);
      expect(world.err()).toContain(`Port ${port} on 127.0.0.1 is taken`);
    } finally {
      taken.close();
    }
  });

  it("shows where the key goes when keys are configured, and never the key itself", async () => {
    const world = testWorld({ engine: scriptedEngine(), env: { INGLE_API_KEYS: "s3cret-of-16-letters" } });
    const { exit, url } = await served(world);
    expect(world.out()).toContain("Authorization: Bearer YOUR_KEY");
    expect(world.out() + world.err()).not.toContain("s3cret");
    expect((await fetch(`${url}/v1/models`)).status).toBe(401);
    world.signals.emit("SIGINT");
    await exit;
  });

  it.each(Object.keys(variants))("knows the variant %s", async (name) => {
    const { context, err } = testWorld({ engine: scriptedEngine() });
    const args = ["serve", "--variant", name, "--no-auth", "--model", "./no-such.gguf"];
    expect(await main("ingle", args, context)).toBe(1); // a variant that is not known is a wrong usage: 2
    expect(err()).toContain("There is no file");
  });

  it("exits with the engine's message when the model cannot be loaded", async () => {
    const load = () => Promise.reject(new EngineError("model_invalid", "starter.gguf is cut short."));
    const world = testWorld({ engine: scriptedEngine({}, { load }) });
    const { exit } = await served(world);
    expect(await exit).toBe(1);
    expect(world.err()).toContain("ingle: starter.gguf is cut short.");
  });

  it("refuses to serve other machines without a key, except with --no-auth", async () => {
    const refused = testWorld({ engine: scriptedEngine() });
    expect(await main("ingle", ["serve", "--port", "0", "--host", "0.0.0.0"], refused.context)).toBe(2);
    expect(refused.err()).toContain("--no-auth");
    const world = testWorld({ engine: scriptedEngine() });
    const { exit } = await served(world, "--host", "0.0.0.0", "--no-auth");
    expect(world.out()).toContain("other machines, on 0.0.0.0:");
    world.signals.emit("SIGINT");
    expect(await exit).toBe(0);
  });
});
