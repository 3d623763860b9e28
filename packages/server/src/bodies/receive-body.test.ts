// Compressed bodies over real sockets: every API reads them, within the limits of bodies that are sent as they are.
import { once } from "node:events";
import * as zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { open } from "../../test/raw-http.ts";
import { longestBlock, slowness } from "../../test/worst-bodies.ts";
import { scriptedId, scriptedServer } from "../../test/harness/scripted-server.ts";
import { acceptedCodings } from "./receive-body.ts";

const bodyBytesMax = 8 * 1024 * 1024;
const messages = [{ role: "user", content: "Hi" }];
const chat = JSON.stringify({ model: scriptedId, messages });

type Encode = (bytes: Buffer) => Buffer;
const zstdOfNode: unknown = Reflect.get(zlib, "zstdCompressSync");
const zstd: Encode | undefined =
  typeof zstdOfNode === "function" ? (bytes) => Buffer.from(zstdOfNode(bytes)) : undefined;

const fastBrotli = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };
const encoders: Readonly<Record<string, Encode>> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes, fastBrotli),
  deflate: (bytes) => zlib.deflateSync(bytes),
  ...(zstd === undefined ? {} : { zstd }),
};

async function post(url: string, encoding: string, body: Buffer, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": encoding, ...headers },
    body: new Uint8Array(body),
    signal: AbortSignal.timeout(20_000),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe("a compressed body", () => {
  it.each([
    ["/v1/chat/completions", { messages }],
    ["/v1/completions", { prompt: "Hi" }],
    ["/v1/responses", { input: "Hi" }],
    ["/v1/messages", { messages, max_tokens: 5 }],
    ["/v1/messages/count_tokens", { messages }],
    ["/api/chat", { messages, stream: false }],
    ["/api/generate", { prompt: "Hi", stream: false }],
    ["/completion", { prompt: "Hi" }],
    ["/api/v0/chat/completions", { messages }],
    ["/v1/tokenize", { content: "Hi" }],
  ])("of POST %s is read in every coding", async (path, body) => {
    const flags = { ollamaApi: true, llamaServerApi: true, lmStudioApi: true };
    await using scripted = await scriptedServer({ flags });
    const url = `${scripted.server.url}${path}`;
    const bytes = Buffer.from(JSON.stringify({ model: scriptedId, ...body }));
    for (const [coding, encode] of Object.entries(encoders))
      expect(await post(url, coding, encode(bytes)), coding).toMatchObject({ status: 200 });
  });

  it.each<[header: string, encode: Encode]>([
    ["x-gzip", (bytes) => zlib.gzipSync(bytes)],
    ["GZIP", (bytes) => zlib.gzipSync(bytes)],
    ["identity", (bytes) => bytes],
    ["gzip, identity", (bytes) => zlib.gzipSync(bytes)],
    ["deflate", (bytes) => zlib.deflateRawSync(bytes)],
    ["gzip, br", (bytes) => zlib.brotliCompressSync(zlib.gzipSync(bytes))],
    ["br,deflate , gzip", (bytes) => zlib.gzipSync(zlib.deflateSync(zlib.brotliCompressSync(bytes)))],
    [
      "gzip",
      (bytes) => Buffer.concat([bytes.subarray(0, 9), bytes.subarray(9)].map((part) => zlib.gzipSync(part))),
    ],
  ])("with the header %j is decoded in the right order", async (header, encode) => {
    await using scripted = await scriptedServer();
    const url = `${scripted.server.url}/v1/chat/completions`;
    expect(await post(url, header, encode(Buffer.from(chat)))).toMatchObject({ status: 200 });
    expect(scripted.log.requests).toHaveLength(1);
  });

  it("of a form is read", async () => {
    await using scripted = await scriptedServer();
    const url = `${scripted.server.url}/v1/audio/transcriptions`;
    const part = (name: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF\r\n';
    const form = Buffer.from(`${part("model", scriptedId)}${file}--b--\r\n`);
    const type = { "content-type": "multipart/form-data; boundary=b" };
    const plain = await post(url, "identity", form, type);
    expect(plain.text).toContain("audio_not_supported");
    for (const [coding, encode] of Object.entries(encoders)) {
      expect(JSON.parse((await post(url, coding, encode(form), type)).text).error).toEqual(
        JSON.parse(plain.text).error,
      );
    }
    expect((await post(url, "lzma", form, type)).status).toBe(415);
  });

  it.each<[path: string, coding: string, named: string]>([
    ["/v1/chat/completions", "compress", '"compress"'],
    ["/v1/messages", "lzma", '"lzma"'],
    ["/api/chat", "gzip, aws-chunked", '"aws-chunked"'],
    ["/v1/responses", `gzip, gzip, gzip, gzip, gzip`, "more than 4"],
    ...(zstd === undefined ? [["/v1/responses", "zstd", "Node.js 22.15"] as [string, string, string]] : []),
  ])("of POST %s in the coding %s is refused by name", async (path, coding, named) => {
    await using scripted = await scriptedServer();
    const refused = await post(`${scripted.server.url}${path}`, coding, Buffer.from(chat));
    expect(refused.status).toBe(415);
    expect(refused.headers.get("accept-encoding")).toBe(acceptedCodings);
    expect(refused.text).toContain(named.replaceAll('"', String.raw`\"`));
    expect(scripted.log.requests).toEqual([]);
  });

  it("that is damaged, incomplete or followed by other bytes is refused", async () => {
    await using scripted = await scriptedServer({ flags: { bodyBytesMax } });
    const url = `${scripted.server.url}/v1/chat/completions`;
    const long = Buffer.from(JSON.stringify({ model: scriptedId, messages, more: "abc".repeat(1_000_000) }));
    for (const [coding, encode] of Object.entries(encoders))
      for (const bytes of [Buffer.from(chat), long]) {
        const whole = encode(bytes);
        const wrong = [
          bytes,
          whole.subarray(0, -1),
          whole.subarray(0, whole.length / 2),
          Buffer.concat([whole, Buffer.from("more")]),
          Buffer.concat([whole, Buffer.alloc(3_000_000, "more")]),
        ];
        for (const [index, each] of wrong.entries()) {
          const { status, text } = await post(url, coding, each);
          expect([coding, index, status, text]).toEqual([
            coding,
            index,
            400,
            expect.stringContaining("invalid_request"),
          ]);
        }
      }
    expect(await post(url, "gzip", Buffer.alloc(0))).toMatchObject({ status: 400 });
    expect(scripted.log.requests).toEqual([]);
  });
});

describe("the limits of a compressed body", () => {
  const zeros = (length: number) => Buffer.alloc(length);

  it("are those of its decoded length", async () => {
    await using scripted = await scriptedServer({ flags: { bodyBytesMax: 4_096 } });
    const url = `${scripted.server.url}/v1/chat/completions`;
    const padded = (length: number) => Buffer.from(chat.padEnd(length, " "));
    for (const [coding, encode] of Object.entries(encoders)) {
      expect(await post(url, coding, encode(padded(4_096))), coding).toMatchObject({ status: 200 });
      expect(await post(url, coding, encode(padded(4_097))), coding).toMatchObject({ status: 413 });
      // Within the length of what is sent, not of what is decoded first.
      expect(
        await post(url, `gzip, ${coding}`, encode(zlib.gzipSync(zeros(1024 * 1024)))),
        coding,
      ).toMatchObject({ status: 413 });
    }
    const random = Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * index * 31) % 251));
    expect(await post(url, "gzip", random)).toMatchObject({ status: 413 });
  });

  it("stop one that becomes a hundred times larger, beyond some megabytes", async () => {
    await using scripted = await scriptedServer({ flags: { bodyBytesMax } });
    const url = `${scripted.server.url}/v1/chat/completions`;
    const long = (length: number) => Buffer.from(chat.padEnd(length, " "));
    expect(await post(url, "gzip", zlib.gzipSync(long(4 * 1024 * 1024)))).toMatchObject({ status: 200 });
    const refused = await post(url, "gzip", zlib.gzipSync(long(6 * 1024 * 1024)));
    expect(refused).toMatchObject({ status: 413, text: expect.stringContaining("100 times") });
    const twice = await post(url, "gzip, gzip", zlib.gzipSync(zlib.gzipSync(long(6 * 1024 * 1024))));
    expect(twice).toMatchObject({ status: 413, text: expect.stringContaining("100 times") });
  });

  it("hold for many at once, without a block of the event loop and without their memory", async () => {
    await using scripted = await scriptedServer();
    const url = `${scripted.server.url}/v1/chat/completions`;
    const bombs = Object.entries(encoders).map(
      ([coding, encode]) => [coding, encode(zeros(48 * 1024 * 1024))] as const,
    );
    await post(url, "gzip", zlib.gzipSync(Buffer.alloc(3_000_000))); // the first body compiles the code
    const before = process.memoryUsage().rss;
    const bound = 50 * slowness();
    let statuses: number[] = [];
    const blocked = await longestBlock(async () => {
      const sent = Array.from({ length: 4 }, () =>
        bombs.map(([coding, bytes]) => post(url, coding, bytes)),
      ).flat();
      statuses = (await Promise.all(sent)).map(({ status }) => status);
    });
    expect(new Set(statuses)).toEqual(new Set([413]));
    expect(process.memoryUsage().rss - before).toBeLessThan(512 * 1024 * 1024);
    expect(blocked).toBeLessThan(bound);
  });

  it("are followed when its sender leaves", async () => {
    await using scripted = await scriptedServer();
    const { port, url } = scripted.server;
    const bytes = zlib.gzipSync(
      Buffer.from(Array.from({ length: 4_000_000 }, (_, index) => (index * index * 31) % 251)),
    );
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    for (let round = 0; round < 20; round += 1) {
      const socket = await open(port);
      socket.on("error", () => {});
      socket.write(head);
      await new Promise((resolve) => socket.write(bytes, resolve));
      socket.destroy();
      await once(socket, "close");
    }
    expect(await post(`${url}/v1/chat/completions`, "gzip", zlib.gzipSync(chat))).toMatchObject({
      status: 200,
    });
    expect(scripted.log.requests).toHaveLength(1);
  });
});
