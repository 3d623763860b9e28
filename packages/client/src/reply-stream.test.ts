// Streams: their events, and forwarding them as bytes that are read back.
import fc from "fast-check";
import { expect, test } from "vitest";

import { beginEvents, chunkEvent, closedByClient, events, pause } from "../test/misbehaving-server.ts";
import type { Script } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";
import { ChatStream } from "./chat-stream.ts";
import { Ingle } from "./client.ts";
import { ConnectionError } from "./errors.ts";
import { readEvents } from "./reply-stream.ts";

const body = { model: "tiny", messages: [{ role: "user" as const, content: "Hello" }] };
const done = "data: [DONE]\n\n";
const hello = [chunkEvent(null), chunkEvent("Hel"), chunkEvent("lo"), done];

const { server, client } = await serverAndClient();

async function openStream(script: Script): Promise<ChatStream> {
  server.respond(script);
  return await client.chat.completions.stream(body);
}

async function readText(bytes: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(bytes).text();
}

test("is forwarded as the same bytes that the server sent", async () => {
  expect(await readText((await openStream(events(...hello))).toReadableStream())).toBe(hello.join(""));
});

test("is read back from its bytes, over a web backend too", async () => {
  const stream = await openStream(events(...hello));
  const headers = { "content-type": "text/event-stream" };
  const backend: typeof fetch = async () => new Response(stream.toReadableStream(), { headers });
  const behind = new Ingle({ fetch: backend });
  expect(await (await behind.chat.completions.stream(body)).finalText()).toBe("Hello");

  const again = (await openStream(events(...hello))).toReadableStream();
  expect(await ChatStream.fromReadableStream(again).finalText()).toBe("Hello");
});

test("the forwarding side can wait for the complete reply", async () => {
  const stream = await openStream(events(...hello));
  const passedOn = readText(stream.toReadableStream());
  expect(await stream.finalText()).toBe("Hello");
  expect(await passedOn).toBe(hello.join(""));
});

test("a server error is forwarded as an error, and a cut reply never looks complete", async () => {
  const error = { message: "the engine stopped", type: "server_error", param: null, code: "engine_failed" };
  const failing = `data: ${JSON.stringify({ error })}\n\n`;
  const passed = (await openStream(events(chunkEvent("Hel"), failing))).toReadableStream();
  expect(await readText(passed)).toBe(chunkEvent("Hel") + failing);

  const cut = (await openStream(events(chunkEvent("Hel")))).toReadableStream();
  await expect(ChatStream.fromReadableStream(cut).finalText()).rejects.toMatchObject({
    code: "stream_incomplete",
  });

  const left = await openStream(events(...hello));
  const bytes = left.toReadableStream();
  left.abort();
  expect(await readText(bytes)).toBe("");
});

test("a broken connection breaks the forwarded stream", async () => {
  const broken: Script = async (response) => {
    beginEvents(response);
    response.write(chunkEvent("Hel"));
    await pause(20);
    response.socket?.destroy();
  };
  await expect(readText((await openStream(broken)).toReadableStream())).rejects.toSatisfy(ConnectionError.is);
  const behind = ChatStream.fromReadableStream((await openStream(broken)).toReadableStream());
  await expect(behind.finalText()).rejects.toSatisfy(ConnectionError.is);
});

test("cancelling the bytes closes the connection, and so does leaving a stream that is read from bytes", async () => {
  let closed: Promise<void> | undefined;
  const endless: Script = (response) => {
    closed = closedByClient(response);
    beginEvents(response);
    response.write(chunkEvent("first"));
  };
  await (await openStream(endless)).toReadableStream().cancel();
  await closed;

  const leave = ChatStream.fromReadableStream((await openStream(endless)).toReadableStream());
  for await (const text of leave.texts()) {
    expect(text).toBe("first");
    break;
  }
  await closed;

  const caller = new AbortController();
  const bytes = (await openStream(endless)).toReadableStream();
  const aborted = ChatStream.fromReadableStream(bytes, { signal: caller.signal });
  setTimeout(() => caller.abort("enough"), 20);
  await expect(aborted.finalText()).rejects.toBe("enough");
  await closed;
});

test("a reader that stops slows the server down instead of filling memory", async () => {
  const large = chunkEvent("x".repeat(64 * 1024));
  const limit = 1_024;
  let written = 0;
  let stalled: () => void = () => {};
  const isStalled = new Promise<void>((resolve) => (stalled = resolve));
  const stream = await openStream(async (response) => {
    beginEvents(response);
    for (; written < limit; written += 1) {
      if (response.write(large)) continue;
      const drained = new Promise((resolve) => response.once("drain", () => resolve("drained")));
      if ((await Promise.race([drained, pause(500)])) !== "drained") return stalled();
    }
  });
  const reader = stream.toReadableStream().getReader();
  await reader.read();
  await isStalled;
  expect(written).toBeLessThan(limit);
  await reader.cancel();
});

async function collectEvents(pieces: Uint8Array[]): Promise<string[]> {
  const queue = [...pieces];
  const found: string[] = [];
  for await (const data of readEvents(async () => queue.shift())) found.push(data);
  return found;
}

const lineEnd = fc.constantFrom("\n", "\r\n");
const eventData = fc.string({ unit: "grapheme", maxLength: 12 }).map((value) => JSON.stringify({ value }));

test("yields the same events however the bytes are cut, with either line ending and comments in between", async () => {
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(eventData, { maxLength: 6 }), lineEnd, cuts, async (texts, end, at) => {
      const written = texts.map((data) => `: alive${end}${end}data: ${data}${end}${end}`).join("");
      const bytes = new TextEncoder().encode(written);
      const places = [
        0,
        ...at.map((part) => Math.round(part * bytes.length)).toSorted((a, b) => a - b),
        bytes.length,
      ];
      const pieces = places.slice(1).map((place, index) => bytes.slice(places[index], place));
      expect(await collectEvents(pieces)).toEqual(texts);
    }),
  );
});

test("does not yield an event that is cut off by the end", async () => {
  expect(await collectEvents([new TextEncoder().encode("data: whole\n\ndata: ha")])).toEqual(["whole"]);
  expect(await collectEvents([new TextEncoder().encode("data: no empty line\n")])).toEqual([]);
});
