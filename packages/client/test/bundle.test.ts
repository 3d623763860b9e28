// Bundles of the built client: a program that uses one part gets only that part, and the bundle runs without Node.
import path from "node:path";
import vm from "node:vm";

import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { chunkEvent, events, json, startServer } from "./misbehaving-server.ts";
import type { MisbehavingServer } from "./misbehaving-server.ts";

/** The size of chat in a web page, minified and uncompressed, with a little reserve. */
const chatBytesMax = 17_000;

/** The size of the whole client. */
const wholeBytesMax = 29_000;

interface Bundle {
  code: string;
  bytes: number;
  /** The client's own files with code in the bundle, such as `chat`. */
  parts: string[];
  /** All other files with code in the bundle. */
  others: string[];
}

/** Bundles a program for browsers, minified, as a script whose value is the program's export `result`. */
async function bundle(program: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: "js" },
    bundle: true,
    write: false,
    outdir: "unwritten",
    platform: "browser",
    format: "iife",
    globalName: "program",
    minify: true,
    metafile: true,
    logLevel: "silent",
  });
  const code = outputFiles[0]?.text ?? "";
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs: from }) =>
    Object.entries(from)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([file]) => file.replaceAll("\\", "/")),
  );
  const own = inputs.filter((file) => file.includes("client/dist/"));
  return {
    code,
    bytes: Buffer.byteLength(code),
    parts: own.map((file) => path.posix.basename(file, ".js")).toSorted(),
    others: inputs.filter((file) => !own.includes(file) && file !== "<stdin>"),
  };
}

describe("a bundle", () => {
  it("of chat alone has no other part of the API, and is small", async () => {
    const chat = await bundle(
      `import { connect, createChatCompletions } from "@ingle/client";
       export const result = createChatCompletions(connect());`,
    );
    const texts = ["completion-stream", "completions", "tokens"];
    const library = ["library", "models", "events", "server"];
    const others = ["embeddings", "responses", "run-tools"];
    for (const part of [...texts, ...library, ...others]) expect(chat.parts).not.toContain(part);
    expect(chat.bytes).toBeLessThan(chatBytesMax);
  });

  it("of the models has no chat", async () => {
    const models = await bundle(
      `import { connect, createModels } from "@ingle/client"; export const result = createModels(connect());`,
    );
    expect(models.parts).not.toContain("chat");
    expect(models.parts).not.toContain("reply-stream");
    expect(models.others).toEqual([]);
  });

  it("of an unused client is empty", async () => {
    const { parts } = await bundle(`import "@ingle/client"; import { Ingle } from "@ingle/client";`);
    expect(parts).toEqual([]);
  });

  it("of everything has the event parser, no other library, and nothing of Node", async () => {
    const whole = await bundle(`export * from "@ingle/client";`);
    expect(whole.others.filter((file) => !file.includes("/eventsource-parser/"))).toEqual([]);
    expect(whole.code).not.toMatch(/\bnode:|\brequire\(|\bprocess\.|\bBuffer\b/);
    expect(whole.bytes).toBeLessThan(wholeBytesMax);
  });
});

describe("in a realm with only a browser's globals", () => {
  let server: MisbehavingServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Runs a program in its own realm, with a browser's globals and without Node's. */
  async function inBrowser(program: string): Promise<unknown> {
    const { code } = await bundle(
      `import * as client from "@ingle/client";
       const ingle = new client.Ingle({ baseUrl: ${JSON.stringify(server.url)} });
       export const result = (async () => { ${program} })();`,
    );
    const names = { AbortController, AbortSignal, Headers, Request, Response, URL, fetch };
    const streams = { ReadableStream, TransformStream, TextDecoder, TextEncoder };
    const web = { ...names, ...streams, atob, clearTimeout, setTimeout };
    return await vm.runInNewContext(`${code}; program.result`, web);
  }

  it("requests, streams and forwards", async () => {
    const reply = { choices: [{ index: 0, message: { role: "assistant", content: "Hi" } }] };
    const streamed = events(chunkEvent("Hel"), chunkEvent("lo"), "data: [DONE]\n\n");
    server.respond(json(reply), streamed, streamed);
    const result = await inBrowser(`
      const body = { model: "tiny", messages: [{ role: "user", content: "Hello" }] };
      const whole = await ingle.chat.completions.create(body);
      const text = await (await ingle.chat.completions.stream(body)).finalText();
      const bytes = (await ingle.chat.completions.stream(body)).toReadableStream();
      const again = await client.ChatStream.fromReadableStream(bytes).finalText();
      return [whole.choices[0].message.content, text, again, typeof process, typeof Buffer];
    `);
    expect(JSON.parse(JSON.stringify(result))).toEqual(["Hi", "Hello", "Hello", "undefined", "undefined"]);
  });

  it("distinguishes errors", async () => {
    const error = { message: "no", type: "not_found_error", param: "model", code: "model_not_found" };
    server.respond(json({ error }, 404));
    const result = await inBrowser(`
      try { await ingle.models.retrieve("gone"); } catch (error) { return [client.ApiError.is(error), error.code]; }
    `);
    expect(JSON.parse(JSON.stringify(result))).toEqual([true, "model_not_found"]);
  });
});
