import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Script } from "@ingle/fixtures/scripted-addon";
import { describe, expect, it } from "vitest";
import { readResponse } from "../test/raw-http.ts";
import { KeyRing } from "./access/keys.ts";
import { openListener } from "./listener.ts";
import { scriptedId, scriptedRegistry, testConfig } from "../test/harness/scripted-server.ts";

const config = testConfig();
const slow = { pieces: Array.from({ length: 20 }, () => "x"), delayMs: 20 };

async function listening(script: Script = {}) {
  const { registry } = await scriptedRegistry(script);
  const keys = new KeyRing(config);
  const listener = await openListener(config, { registry, keys });
  const close = async (): Promise<void> => {
    await listener.close({ deadlineMs: 0 });
    await registry[Symbol.asyncDispose]();
  };
  return { registry, keys, listener, [Symbol.asyncDispose]: close };
}

const chat = { model: scriptedId, messages: [{ role: "user", content: "Hi" }] };

function ask(socket: Socket, path: string, body?: object): void {
  const text = body === undefined ? "" : JSON.stringify(body);
  const head =
    body === undefined ? "" : `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`;
  const method = body === undefined ? "GET" : "POST";
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${head}\r\n${text}`);
}

describe("closing one of several listeners", () => {
  it("lets its replies end and leaves the models in memory, for the others", async () => {
    await using one = await listening({ pieces: ["a", "b", "c"], delayMs: 30 });
    const { registry, keys, listener } = one;
    const other = await openListener(config, { registry, keys });
    const post = (url: string, body: object): Promise<Response> =>
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const reply = await post(listener.url, { ...chat, stream: true });
    expect(listener.openRequests()).toBe(1);
    const closed = listener.close({ deadlineMs: 5_000 });
    expect(await reply.text()).toContain("data: [DONE]");
    await closed;
    await expect(fetch(`${listener.url}/livez`)).rejects.toThrow();
    expect(registry.readiness()).toMatchObject({ status: "ok", model: scriptedId });
    expect((await post(other.url, chat)).status).toBe(200);
    await other.close();
  });

  it("refuses work on connections that are open, and still tells how it is", async () => {
    await using one = await listening(slow);
    const { listener, registry } = one;
    const asked = [
      ["/v1/chat/completions", chat, 503],
      ["/api/v1/models/unload", chat, 503],
      ["/readyz", undefined, 503],
      ["/api/v1/state", undefined, 200],
      ["/livez", undefined, 200],
    ] as const;
    const sockets = asked.map(() => connect(listener.port, "127.0.0.1"));
    for (const socket of sockets) ask(socket, "/v1/chat/completions", chat);
    await expect.poll(() => listener.openRequests()).toBe(asked.length);
    const closed = listener.close({ deadlineMs: 5_000 });
    const isListening = (): Promise<boolean> =>
      fetch(listener.url).then(
        () => true,
        () => false,
      );
    await expect.poll(isListening).toBe(false);
    for (const [index, [path, body]] of asked.entries()) ask(sockets[index] as Socket, path, body);
    const responses = await Promise.all(sockets.map((socket) => readResponse(socket)));
    await closed;
    for (const [index, [path, , status]] of asked.entries()) {
      const text = responses[index]?.body ?? "";
      const [, last = "", body = ""] = /HTTP\/1\.1 (\d+)[^]*?\r\n\r\n([^]*)$/.exec(text) ?? [];
      expect([path, Number(last)]).toEqual([path, status]);
      if (path !== "/livez") expect(body).toContain('"shutting_down"');
    }
    expect(registry.readiness().status).toBe("ok");
  });
});

describe("the requests that are open", () => {
  it("are those for work that are not answered", async () => {
    await using one = await listening(slow);
    const { listener } = one;
    const socket = connect(listener.port, "127.0.0.1");
    ask(socket, "/v1/chat/completions", chat);
    await expect.poll(() => listener.openRequests()).toBe(1);
    await fetch(`${listener.url}/v1/models`);
    expect(listener.openRequests()).toBe(1);
    socket.destroy();
    await once(socket, "close");
    await expect.poll(() => listener.openRequests()).toBe(0);
  });
});
