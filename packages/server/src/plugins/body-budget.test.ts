import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { readResponse, chatText, exchange, open, requestText } from "../../test/raw-http.ts";
import { scriptedId, scriptedServer } from "../../test/harness/scripted-server.ts";

const bodyBytesMax = 4_096;
const type = ["Host: localhost", "Content-Type: application/json"];
const chat = chatText({ model: scriptedId, messages: [{ role: "user", content: "Hi" }] });

/** As many bodies as there is memory for, begun and never ended. */
async function fill(port: number, text: string): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: 16 }, () => open(port)));
  for (const socket of sockets) {
    socket.on("error", () => {});
    socket.write(text);
  }
  return sockets;
}

const declared = requestText("POST /v1/chat/completions", [...type, `Content-Length: ${bodyBytesMax}`], "{");
const chunked = requestText(
  "POST /v1/chat/completions",
  [...type, "Transfer-Encoding: chunked"],
  `1000\r\n${" ".repeat(bodyBytesMax)}\r\n`,
);

describe("bodies that fill the memory", () => {
  it.each([
    ["by the length that they declare", declared],
    ["by what has come of them", chunked],
  ])("%s make the next one wait, until they have gone", async (_name, text) => {
    await using scripted = await scriptedServer({ flags: { bodyBytesMax } });
    const { port } = scripted.server;
    const sockets = await fill(port, text);
    await expect.poll(async () => (await exchange(port, chat)).status).toBe(429);
    const { head } = await exchange(port, chat);
    expect(head).toMatch(/retry-after: 2/i);
    expect((await exchange(port, requestText("GET /v1/models"))).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await exchange(port, chat)).status).toBe(200);
  });

  it("are told from those that are read and answered", async () => {
    await using scripted = await scriptedServer({ flags: { bodyBytesMax } });
    for (let round = 0; round < 100; round += 1) {
      expect((await exchange(scripted.server.port, chat)).status).toBe(200);
    }
  });

  it("are told from those that were refused on their way", async () => {
    await using scripted = await scriptedServer({ flags: { bodyBytesMax } });
    const head = requestText("POST /v1/chat/completions", [...type, "Transfer-Encoding: chunked"]);
    const piece = `400\r\n${" ".repeat(1_024)}\r\n`;
    for (let round = 0; round < 40; round += 1) {
      const response = await exchange(scripted.server.port, head, ...Array.from({ length: 12 }, () => piece));
      expect(response.status).toBe(413);
    }
    expect((await exchange(scripted.server.port, chat)).status).toBe(200);
  });
});

describe("a body in pieces", () => {
  const headers = [...type, "Transfer-Encoding: chunked"];
  const body = chat.split("\r\n\r\n")[1] ?? "";

  it("is read whole", async () => {
    await using scripted = await scriptedServer({ flags: { bodyBytesMax } });
    const pieces = body.split("").map((letter) => `1\r\n${letter}\r\n`);
    const head = requestText("POST /v1/chat/completions", headers);
    const { status } = await exchange(scripted.server.port, head, ...pieces, "0\r\n\r\n");
    expect(status).toBe(200);
  });

  it("whose sender leaves in the middle is given up", async () => {
    await using scripted = await scriptedServer({ flags: { bodyBytesMax } });
    const socket = await open(scripted.server.port);
    socket.write(requestText("POST /v1/chat/completions", headers, "1\r\n{\r\n"));
    socket.destroy();
    await once(socket, "close");
    expect((await exchange(scripted.server.port, chat)).status).toBe(200);
    const other = await open(scripted.server.port);
    other.end(requestText("POST /v1/chat/completions", headers, "1\r\n{\r\n"));
    expect((await readResponse(other)).status).not.toBe(200);
    expect(scripted.log.requests).toHaveLength(1);
  });
});
