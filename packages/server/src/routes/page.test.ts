import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerOf, requestText } from "../../test/raw-http.ts";
import { KeyRing } from "../access/key-ring.ts";
import { openListener } from "../listener.ts";
import { pageIn, type Page } from "../page/page-files.ts";
import { scriptedApp, scriptedRegistry, testConfig } from "../testing/scripted-server.ts";

let folder: string;
let page: Page;
const script = `export const text = "${"a".repeat(3_000)}";`;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-page-"));
  await mkdir(path.join(folder, "assets"));
  await writeFile(path.join(folder, "index.html"), "<!doctype html><p>Ingle");
  await writeFile(path.join(folder, "assets/index-abc.js"), script);
  page = await pageIn(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const html = { url: "/" };
const asset = { url: "/assets/index-abc.js" };

describe("the page", () => {
  it("is given to everybody, also where keys are asked for, and is never used without asking", async () => {
    await using house = await scriptedApp({ page, flags: { apiKey: ["secret"] } });
    const answer = await house.app.inject(html);
    expect([answer.statusCode, answer.body]).toEqual([200, "<!doctype html><p>Ingle"]);
    expect(answer.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
        "connect-src 'self'; worker-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; " +
        "form-action 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      vary: "Accept-Encoding",
    });
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });

  it("has files that are kept for good, packed as the client takes them", async () => {
    await using house = await scriptedApp({ page });
    const answer = await house.app.inject({ ...asset, headers: { "accept-encoding": "br;q=0, gzip" } });
    expect(answer.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "content-encoding": "gzip",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
    });
    expect(answer.rawPayload.length).toBeLessThan(500);
    for (const encodings of ["", "identity", "gzip;q=0", "gzipped"]) {
      const plain = await house.app.inject({ ...asset, headers: { "accept-encoding": encodings } });
      expect([plain.body, plain.headers["content-encoding"]]).toEqual([script, undefined]);
    }
  });

  it("is not sent again to who has it", async () => {
    await using house = await scriptedApp({ page });
    for (const request of [html, asset]) {
      const { etag } = (await house.app.inject(request)).headers;
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await house.app.inject({ ...request, headers: { "if-none-match": String(known) } });
        expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, "", etag]);
      }
      const other = await house.app.inject({ ...request, headers: { "if-none-match": '"other"' } });
      expect(other.statusCode).toBe(200);
    }
  });

  it("answers HEAD with the same headers and nothing else", async () => {
    await using house = await scriptedApp({ page });
    for (const request of [html, asset]) {
      const [get, head] = [
        await house.app.inject(request),
        await house.app.inject({ ...request, method: "HEAD" }),
      ];
      const { date: _, "x-request-id": __, ...headers } = head.headers;
      expect([head.statusCode, head.body]).toEqual([200, ""]);
      expect(get.headers).toMatchObject(headers);
      expect(headers["content-length"]).toBe(String(get.rawPayload.length));
    }
  });

  it("is not there without a folder of it, as before", async () => {
    await using house = await scriptedApp();
    expect((await house.app.inject(html)).json().error.code).toBe("not_found");
  });

  it("that is not built says so in a sentence, and the rest works", async () => {
    await using house = await scriptedApp({ page: { problem: "It is <not> built." } });
    const answer = await house.app.inject(html);
    expect(answer.statusCode).toBe(404);
    expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(answer.body).toContain("<p>It is &lt;not&gt; built.</p>");
    expect((await house.app.inject("/v1/models")).statusCode).toBe(200);
    expect((await house.app.inject("/docs")).statusCode).toBe(200);
  });

  it("is no part of the API that is described", async () => {
    await using house = await scriptedApp({ page });
    const { paths } = (await house.app.inject("/openapi.json")).json();
    expect(Object.keys(paths)).not.toContain("/");
    expect(Object.keys(paths)).toContain("/v1/models");
  });

  it("is no address to give a token to, but the app's", async () => {
    await using house = await scriptedApp({ page, flags: { apiKey: ["secret"] } });
    const answer = await house.app.inject("/?token=secret");
    expect([answer.statusCode, answer.headers["set-cookie"]]).toEqual([200, undefined]);
  });
});

describe("what was not built", () => {
  it.each([
    "/index.html",
    "/assets",
    "/assets/",
    "/assets/other.js",
    "/assets/../index.html",
    "/assets/%2e%2e/index.html",
    "/..%2f..%2fetc/passwd",
    "/../../../../etc/passwd",
    "//etc/passwd",
    "/assets/index-abc.js/",
    "/assets/index-abc.js%00",
    "/assets/..%5c..%5cindex.html",
    "/package.json",
  ])("cannot be asked for: %s", async (target) => {
    const { registry } = await scriptedRegistry();
    const listener = await openListener(testConfig(), { registry, keys: new KeyRing(), page });
    const socket = connect(listener.port, "127.0.0.1");
    socket.write(requestText(`GET ${target}`));
    const { status, body } = await answerOf(socket);
    expect([404, 400]).toContain(status);
    expect(JSON.parse(body)).toHaveProperty("error.code");
    await listener.close();
    await registry[Symbol.asyncDispose]();
  });

  it("is an upgrade to a WebSocket neither: it is answered as any request", async () => {
    const { registry } = await scriptedRegistry();
    const keys = new KeyRing(testConfig({ apiKey: ["secret"] }));
    const listener = await openListener(testConfig(), { registry, keys, page });
    const head = [
      "GET /api/v1/state HTTP/1.1",
      "Host: localhost",
      "Connection: Upgrade, close",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==",
      "Origin: http://localhost:3000",
    ];
    const socket = connect(listener.port, "127.0.0.1");
    socket.write([...head, "", ""].join("\r\n"));
    expect((await answerOf(socket)).status).toBe(401);
    await listener.close();
    await registry[Symbol.asyncDispose]();
  });
});
