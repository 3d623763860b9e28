import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { BenchError } from "./bench-error.ts";
import { readReply, requestBody, streamChat, type Piece } from "./stream-client.ts";
import { checkLength, decodeSpeed, gaps, timeToFirstToken, type StreamRequest } from "./stream-record.ts";

const request: StreamRequest = { messages: [{ role: "user", content: "hello" }], maxTokens: 3 };
const chunk = (content: string | null, finishReason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: finishReason }] })}\n\n`;
const usage = `data: ${JSON.stringify({
  choices: [],
  usage: { prompt_tokens: 9, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
})}\n\n`;
const whole = [
  chunk(null),
  chunk("a"),
  chunk("b"),
  chunk("c"),
  chunk(null, "length"),
  usage,
  "data: [DONE]\n\n",
];

const at = (atMs: number, text: string): Piece => ({ atMs, bytes: Buffer.from(text) });

describe("readAnswer", () => {
  it("counts the first piece with text as the first token, not the opening chunk", () => {
    const record = readReply(
      whole.map((text, index) => at(100 + index * 10, text)),
      90,
    );
    expect(timeToFirstToken(record)).toBe(20);
    expect(record.text).toBe("abc");
    expect(gaps(record)).toEqual([10, 10, 10]);
    expect(decodeSpeed(record)).toBeCloseTo(2 / 0.03);
  });

  it("tells computed from reused prompt tokens", () => {
    const record = readReply([at(1, whole.join(""))], 0);
    expect(record).toMatchObject({
      promptTokens: 9,
      reusedTokens: 4,
      computedTokens: 5,
      completionTokens: 3,
    });
  });

  it("puts events and characters together that arrive in parts", () => {
    const bytes = Buffer.from([chunk("ü"), ...whole.slice(1)].join(""));
    const pieces = [...bytes].map((byte, index) => ({ atMs: index, bytes: Uint8Array.of(byte) }));
    expect(readReply(pieces, 0).text).toBe("üabc");
  });

  it("refuses a stream that was cut", () => {
    expect(() => readReply([at(1, whole.slice(0, -1).join(""))], 0)).toThrow(BenchError);
  });

  it("refuses a stream that ends with an error", () => {
    const error = `data: ${JSON.stringify({ error: { message: "out of memory" } })}\n\n`;
    expect(() => readReply([at(1, chunk("a") + error)], 0)).toThrow(/out of memory/);
  });

  it("misses nothing when the client left", () => {
    const record = readReply([at(5, chunk("a")), at(6, 'data: {"cho')], 0, 50);
    expect(record).toMatchObject({ hasLeft: true, text: "a", endedAtMs: 50 });
    expect(gaps(record)).toEqual([45]);
  });
});

describe("checkLength", () => {
  it("refuses a reply shorter than requested", () => {
    const record = readReply([at(1, whole.join(""))], 0);
    expect(checkLength(record, request)).toBe(record);
    expect(() => checkLength(record, { ...request, maxTokens: 4 })).toThrow(BenchError);
  });
});

describe("requestBody", () => {
  it("has images before the text of the last message, and plain text where there are none", () => {
    const url = "data:image/png;base64,AAAA";
    const messages = [{ role: "system" as const, content: "Be short." }, ...request.messages];
    expect(JSON.parse(requestBody("tiny", { ...request, messages, images: [url] }))).toMatchObject({
      messages: [
        { role: "system", content: "Be short." },
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url } },
            { type: "text", text: "hello" },
          ],
        },
      ],
    });
    expect(JSON.parse(requestBody("tiny", request))).toMatchObject({ messages: request.messages });
  });
});

describe("streamChat", () => {
  let server: Server | undefined;
  afterEach(async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
    server = undefined;
  });

  const listen = async (...pieces: string[]): Promise<string> => {
    const one = createServer((_request, response) => {
      response.writeHead(pieces.length === 0 ? 503 : 200);
      for (const piece of pieces) response.write(piece);
      if (pieces.length !== 1) response.end(); // a single piece makes a stream that never ends
    });
    server = one;
    await new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(one.address() as AddressInfo).port}`;
  };

  it("reads a stream to its end", async () => {
    const record = await streamChat(await listen(...whole), "tiny", request);
    expect(record).toMatchObject({ text: "abc", hasLeft: false, completionTokens: 3 });
  });

  it("rejects when the server refuses", async () => {
    await expect(streamChat(await listen(), "tiny", request)).rejects.toThrow(/refused with 503/);
  });

  it("rejects when nobody listens", async () => {
    const url = await listen(...whole);
    await new Promise((resolve) => server?.close(resolve));
    server = undefined;
    await expect(streamChat(url, "tiny", request)).rejects.toBeInstanceOf(BenchError);
  });

  it("says that the client left, and what it had seen", async () => {
    const leaving = new AbortController();
    const url = await listen(chunk("a"));
    const record = await streamChat(url, "tiny", request, {
      leave: leaving.signal,
      onPiece: () => leaving.abort(),
    });
    expect(record).toMatchObject({ hasLeft: true, text: "a" });
  });

  it("rejects with the signal's reason when everything is stopped", async () => {
    const stop = new AbortController();
    const reason = new Error("stopped");
    const url = await listen(chunk("a"));
    const reply = streamChat(url, "tiny", request, {
      signal: stop.signal,
      onPiece: () => stop.abort(reason),
    });
    await expect(reply).rejects.toBe(reason);
  });
});
