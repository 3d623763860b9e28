import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { ConfigError } from "./config.ts";
import { serve } from "./serve.ts";
import { scriptedId, scriptedServer, testConfig } from "../test/harness/scripted-server.ts";

const slow = { pieces: Array.from({ length: 1000 }, () => "x"), delayMs: 5 };

async function occupy(): Promise<{ port: number; server: Server } & AsyncDisposable> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    server,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, "close");
    },
  };
}

function chat(url: string, body: object = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: scriptedId, messages: [{ role: "user", content: "Hi" }], ...body }),
  });
}

describe("the port", () => {
  it("is the next free one for desktop when its own is in use, and reported", async () => {
    await using other = await occupy();
    await using running = await serve(testConfig({ port: other.port }), { logger: false });
    expect(running.port).toBeGreaterThan(other.port);
    expect(running.url).toBe(`http://127.0.0.1:${running.port}`);
    expect((await fetch(`${running.url}/livez`)).status).toBe(200);
  });

  it.each(["developer", "command-line"])("that is in use is an error for %s", async (variant) => {
    await using other = await occupy();
    const starting = serve(testConfig({ variant, port: other.port }), { logger: false });
    await expect(starting).rejects.toSatisfy(
      (error) => error instanceof ConfigError && error.setting === "--port",
    );
  });

  it("0 is any free one", async () => {
    await using running = await serve(testConfig({ variant: "developer" }), { logger: false });
    expect(running.port).toBeGreaterThan(0);
  });

  it("of KV-cache events that is in use is an error, and the server does not listen", async () => {
    await using other = await occupy();
    const free = await occupy();
    const { port } = free;
    await free[Symbol.asyncDispose]();
    const config = testConfig({ variant: "developer", port, kvEvents: `tcp://127.0.0.1:${other.port}` });
    await expect(serve(config, { logger: false })).rejects.toSatisfy(
      (error) => error instanceof ConfigError && error.setting === "--kv-events",
    );
    await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow();
  });

  it("on an address that this machine does not have is an error", async () => {
    const starting = serve(testConfig({ host: "192.0.2.1", noAuth: true }), { logger: false });
    await expect(starting).rejects.toSatisfy(
      (error) => error instanceof ConfigError && error.setting === "--host",
    );
  });
});

describe("listening before the model is loaded", () => {
  it("responds to probes and refuses chats until then", async () => {
    await using running = await serve(testConfig(), { logger: false });
    expect((await fetch(`${running.url}/readyz`)).status).toBe(503);
    expect((await chat(running.url)).status).toBe(404);
    expect(running.registry.readiness().status).toBe("empty");
  });
});

describe("what is not HTTP", () => {
  it("gets an error body, and the connection ends", async () => {
    await using house = await scriptedServer();
    const socket = connect(house.server.port, "127.0.0.1");
    socket.end("this is no request\r\n\r\n");
    const response = (await socket.toArray()).join("");
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(response.split("\r\n\r\n")[1] ?? "")).toMatchObject({
      error: { code: "invalid_request" },
    });
  });
});

describe("closing", () => {
  it("lets a running reply finish, and accepts nothing new", async () => {
    await using house = await scriptedServer({ script: { pieces: ["a", "b", "c"], delayMs: 30 } });
    const reply = await chat(house.server.url, { stream: true });
    const closed = house.server.close({ deadlineMs: 5_000 });
    expect(await reply.text()).toContain("data: [DONE]");
    await closed;
    expect(house.server.registry.readiness().status).toBe("shutting_down");
    await expect(chat(house.server.url)).rejects.toThrow();
  });

  it("cuts a reply at the deadline, visibly incomplete", async () => {
    await using house = await scriptedServer({ script: slow });
    const reply = await chat(house.server.url, { stream: true });
    const waiting = chat(house.server.url);
    await expect.poll(() => house.log.running.size).toBe(2);
    await house.server.close({ deadlineMs: 20 });
    const text = await reply.text();
    expect(text).toContain('"code":"shutting_down"');
    expect(text).not.toContain("[DONE]");
    expect((await waiting).status).toBe(503);
    expect(new Set(house.log.cancelled)).toEqual(new Set([1, 2]));
  });

  it("does not wait for idle keep-alive connections", async () => {
    await using house = await scriptedServer();
    await (await chat(house.server.url)).text();
    const before = performance.now();
    await house.server.close({ deadlineMs: 10_000 });
    expect(performance.now() - before).toBeLessThan(2_000);
  });

  it("does not wait for connections without a request", async () => {
    await using house = await scriptedServer();
    const { hostname, port } = new URL(house.server.url);
    const spare = connect(Number(port), hostname);
    await once(spare, "connect");
    await (await chat(house.server.url)).text();
    const before = performance.now();
    const ended = once(spare, "close");
    await house.server.close({ deadlineMs: 10_000 });
    await ended;
    expect(performance.now() - before).toBeLessThan(2_000);
  });

  it("is idempotent", async () => {
    await using house = await scriptedServer();
    await Promise.all([house.server.close(), house.server.close({ deadlineMs: 0 })]);
    await house.server[Symbol.asyncDispose]();
    expect(house.server.registry.readiness().status).toBe("shutting_down");
  });
});
