// Unauthenticated clients at the socket: whatever they send is refused or disconnected, and the next request works as usual.
import { once } from "node:events";
import { connect } from "node:net";
import { ErrorBody } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import type { ServerFlags } from "../src/config.ts";
import { scriptedId, scriptedServer } from "./harness/scripted-server.ts";
import { readResponse, chatText, exchange, open, requestText, type RawResponse } from "./raw-http.ts";

type House = Awaited<ReturnType<typeof scriptedServer>>;

const chat = { model: scriptedId, messages: [{ role: "user", content: "Hi" }] };
const models = "GET /v1/models";

async function expectStillServing(scripted: House): Promise<void> {
  const { status, body } = await exchange(scripted.server.port, chatText(chat));
  expect([status, JSON.parse(body)]).toMatchObject([200, { choices: [{ message: { role: "assistant" } }] }]);
}

/** Sends the pieces, expects that the server continues afterwards, and returns the response. */
async function send(pieces: readonly string[], flags: ServerFlags = {}): Promise<RawResponse> {
  await using scripted = await scriptedServer({ flags });
  const response = await exchange(scripted.server.port, ...pieces);
  await expectStillServing(scripted);
  return response;
}

function readCode({ body }: RawResponse): string {
  return ErrorBody.parse(JSON.parse(body)).error.code;
}

describe("the Host of a request", () => {
  it("is accepted when it is loopback, so the others are refused for their host", async () => {
    expect((await send([requestText(models)])).status).toBe(200);
  });

  it.each([
    "localhost.evil.com",
    "127.0.0.1.evil.com",
    "evil.com",
    "localhost@evil.com",
    "localhost\tevil",
    "",
  ])("%j is refused", async (host) => {
    const response = await send([requestText(models, [`Host: ${host}`])]);
    expect([response.status, readCode(response)]).toEqual([403, "forbidden"]);
  });

  it.each([
    ["localhost", "evil.com"],
    ["evil.com", "localhost"],
    ["localhost", "localhost"],
  ])("sent twice (%s, %s) is refused", async (first, second) => {
    const response = await send([requestText(models, [`Host: ${first}`, `hOST: ${second}`])]);
    expect([response.status, readCode(response)]).toEqual([400, "invalid_request"]);
  });

  it.each(["http://evil.com/v1/models", "http://localhost/v1/models", "//evil.com@/v1/models"])(
    "cannot be smuggled in with the target %s",
    async (target) => {
      expect([400, 404]).toContain((await send([requestText(`GET ${target}`)])).status);
    },
  );

  it("is not read from a proxy's headers", async () => {
    const headers = ["Host: evil.com", "X-Forwarded-Host: localhost", "Forwarded: host=localhost"];
    expect((await send([requestText(models, headers)])).status).toBe(403);
  });

  it("is required", async () => {
    expect((await send([requestText(models, [])])).status).toBe(400);
    expect((await send(["GET /v1/models HTTP/1.0\r\n\r\n"])).status).toBe(403);
  });

  it.each(["https://evil.com", "http://localhost.evil.com", "http://localhost, https://evil.com"])(
    "does not allow the origin %s",
    async (origin) => {
      const response = await send([requestText(models, ["Host: localhost", `Origin: ${origin}`])]);
      expect([response.status, response.head]).toEqual([403, expect.not.stringMatching(/access-control/i)]);
    },
  );

  it("does not allow an origin that is hidden behind another one", async () => {
    const headers = ["Host: localhost", "Origin: http://localhost", "Origin: https://evil.com"];
    expect((await send([requestText(models, headers)])).status).toBe(403);
  });
});

describe("a body with two lengths", () => {
  it.each([
    [["Content-Length: 5", "Content-Length: 6"]],
    [["Content-Length: 5", "Transfer-Encoding: chunked"]],
    [["Content-Length: -1"]],
    [["Content-Length: 5, 6"]],
    [["Transfer-Encoding: chunked, identity"]],
  ])("%j is refused, and nothing behind it is read as a request", async (lengths) => {
    const headers = ["Host: localhost", "Content-Type: application/json", ...lengths];
    const text = requestText("POST /v1/chat/completions", headers, `0\r\n\r\n${requestText(models)}`);
    const response = await send([text]);
    expect(response.status).toBe(400);
    expect(response.body).not.toContain("HTTP/1.1 200");
  });
});

describe("headers", () => {
  it("larger than 16 KiB are refused", async () => {
    const response = await send([requestText(models, ["Host: localhost", `X-Long: ${"x".repeat(20_000)}`])]);
    expect([response.status, readCode(response)]).toEqual([400, "invalid_request"]);
    expect(response.body).toContain("too large");
  });

  it("without end are refused before they fill the memory", async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `X-${index}: ${"x".repeat(100)}\r\n`);
    expect((await send([`${models} HTTP/1.1\r\nHost: localhost\r\n`, ...lines])).status).toBe(400);
  });

  it("that arrive too slowly time out", async () => {
    await using scripted = await scriptedServer({ flags: { headersTimeout: "200ms" } });
    const socket = await open(scripted.server.port);
    socket.write(`${models} HTTP/1.1\r\nHost: localhost\r\n`);
    const trickle = setInterval(() => socket.write("x: y\r\n"), 20);
    const response = await readResponse(socket);
    clearInterval(trickle);
    expect([response.status, response.body]).toEqual([400, expect.stringContaining("too long to arrive")]);
    await expectStillServing(scripted);
  });

  it("that never arrive time out too", async () => {
    await using scripted = await scriptedServer({ flags: { headersTimeout: "200ms" } });
    const response = await readResponse(await open(scripted.server.port));
    expect(response.body).not.toContain("200 OK");
    await expectStillServing(scripted);
  });
});

describe("a body", () => {
  it("that arrives byte by byte is read if it is fast enough", async () => {
    expect((await send(chatText(chat).split(""))).status).toBe(200);
  });

  it("that arrives too slowly times out", async () => {
    await using scripted = await scriptedServer({ flags: { requestTimeout: "300ms" } });
    const socket = await open(scripted.server.port);
    const text = chatText(chat);
    socket.write(text.slice(0, -20));
    let sent = text.length - 20;
    const trickle = setInterval(() => sent < text.length - 1 && socket.write(text.charAt(sent++)), 50);
    const response = await readResponse(socket);
    clearInterval(trickle);
    expect(response.status).toBe(400);
    expect(scripted.log.requests).toEqual([]);
    await expectStillServing(scripted);
  });

  it("larger than its limit is refused by its length, before it is sent", async () => {
    const headers = ["Host: localhost", "Content-Type: application/json", "Content-Length: 999999999"];
    const response = await send([requestText("POST /v1/chat/completions", headers)]);
    expect([response.status, readCode(response)]).toEqual([413, "payload_too_large"]);
  });

  it("without a length is refused when it becomes too large", async () => {
    const headers = ["Host: localhost", "Content-Type: application/json", "Transfer-Encoding: chunked"];
    const chunk = `400\r\n${"x".repeat(0x400)}\r\n`;
    const response = await send(
      [requestText("POST /v1/chat/completions", headers), ...Array.from({ length: 64 }, () => chunk)],
      { bodyBytesMax: 16_384 },
    );
    expect([response.status, readCode(response)]).toEqual([413, "payload_too_large"]);
  });

  it.each([
    ["of brackets in brackets", "[".repeat(500_000)],
    ["of closed brackets in brackets", "[".repeat(100_000) + "]".repeat(100_000)],
    ["of objects in objects", '{"messages":'.repeat(100_000) + "1" + "}".repeat(100_000)],
    ["with a deeply nested field", `{"model":"m","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  ])("%s is refused", async (_name, payload) => {
    const headers = [
      "Host: localhost",
      "Content-Type: application/json",
      `Content-Length: ${payload.length}`,
    ];
    expect((await send([requestText("POST /v1/chat/completions", headers, payload)])).status).toBe(400);
  });

  it("with too many messages is refused", async () => {
    const messages = Array.from({ length: 10_001 }, () => ({ role: "user", content: "" }));
    const response = await send([chatText({ ...chat, messages })]);
    expect([response.status, JSON.parse(response.body)]).toMatchObject([
      400,
      { error: { param: "messages" } },
    ]);
  });
});

describe("a client that stops reading its stream", () => {
  const piece = "x".repeat(64 * 1024);

  it("is disconnected, and its request is cancelled", async () => {
    const script = { pieces: Array.from({ length: 1_000 }, () => piece), delayMs: 1 };
    await using scripted = await scriptedServer({ script, flags: { stalledReaderTimeout: "300ms" } });
    const socket = await open(scripted.server.port);
    socket.pause();
    socket.on("error", () => {});
    socket.write(chatText({ ...chat, stream: true }));
    await expect.poll(() => scripted.log.running.size, { timeout: 5_000 }).toBe(1);
    await expect.poll(() => scripted.log.running.size, { timeout: 10_000 }).toBe(0);
    expect(scripted.log.cancelled).toEqual([1]);
    socket.destroy();
  });

  it("releases its slot when its reply was already complete", async () => {
    const script = { pieces: Array.from({ length: 200 }, () => piece), parallel: 1 };
    await using scripted = await scriptedServer({
      script,
      flags: { stalledReaderTimeout: "300ms", waitingMax: 0 },
    });
    const socket = await open(scripted.server.port);
    socket.pause();
    socket.on("error", () => {});
    socket.write(chatText({ ...chat, stream: true }));
    await expect.poll(() => scripted.log.requests.length).toBe(1);
    await expect.poll(() => scripted.log.running.size, { timeout: 5_000 }).toBe(0);
    expect((await exchange(scripted.server.port, chatText(chat))).status).toBe(429);
    await expect
      .poll(async () => (await exchange(scripted.server.port, chatText({ ...chat, max_tokens: 1 }))).status, {
        timeout: 10_000,
      })
      .toBe(200);
    socket.destroy();
  });

  it("is distinguished from one that reads slowly, and from one whose reply is slow", async () => {
    const script = { pieces: ["a", "b", "c"], delayMs: 500 };
    await using scripted = await scriptedServer({ script, flags: { stalledReaderTimeout: "200ms" } });
    const { status, body } = await exchange(scripted.server.port, chatText({ ...chat, stream: true }));
    expect(status).toBe(200);
    expect(body).toContain("[DONE]");
  });
});

describe("pipelined requests on one connection", () => {
  const endless = { pieces: Array.from({ length: 1_000 }, () => "x"), delayMs: 20, parallel: 4 };
  const next = chatText({ ...chat, stream: true }).replace("Connection: close\r\n", "");

  it("are all cancelled and release their slots when it breaks", async () => {
    await using scripted = await scriptedServer({ script: endless });
    const socket = await open(scripted.server.port);
    socket.on("error", () => {});
    socket.write(next.repeat(3));
    await expect.poll(() => scripted.log.running.size).toBe(3);
    socket.destroy();
    await expect.poll(() => scripted.log.running.size).toBe(0);
    expect(scripted.server.registry.slots[0]?.leases).toBe(0);
  });
});

describe("many unauthenticated clients", () => {
  it("that open connections and send nothing leave nothing behind", async () => {
    await using scripted = await scriptedServer({ flags: { headersTimeout: "200ms" } });
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open(scripted.server.port)));
    await Promise.all(sockets.map(readResponse));
    await expectStillServing(scripted);
  });

  it("that were refused and keep their connection are disconnected", async () => {
    await using scripted = await scriptedServer();
    const socket = connect({ port: scripted.server.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.write("noise\r\n\r\n");
    socket.on("data", () => {});
    const answered = once(socket, "end", { signal: AbortSignal.timeout(5_000) });
    await answered;
    const more = setInterval(() => socket.write("more"), 20);
    await expect(once(socket, "close", { signal: AbortSignal.timeout(5_000) })).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNRESET|EPIPE/),
    });
    clearInterval(more);
    await expectStillServing(scripted);
  });

  it("that send noise get a response or are disconnected, and the server continues", async () => {
    await using scripted = await scriptedServer();
    const noises = [
      "\r\n\r\n\r\n",
      "\u0016\u0003\u0001\u0002\u0000", // a TLS client on a plain HTTP port
      "CONNECT evil.com:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
      `GET /${"a".repeat(15_000)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      "GET /v1/models HTTP/1.1\r\nHost: local\u0000host\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    ];
    for (const noise of noises) {
      const socket = await open(scripted.server.port);
      socket.on("error", () => {});
      socket.end(noise);
      const { body } = await readResponse(socket);
      expect(body).not.toContain("    at ");
    }
    await expectStillServing(scripted);
  });
});
