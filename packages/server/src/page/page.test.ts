import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readResponse, requestText } from "../../test/raw-http.ts";
import { KeyRing } from "../access/keys.ts";
import { openListener } from "../listener.ts";
import { pageIn, type Page } from "./page-files.ts";
import { scriptedApp, scriptedRegistry, testConfig } from "../../test/harness/scripted-server.ts";

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
  it("is sent without a key, and revalidated before each use", async () => {
    await using server = await scriptedApp({ page, flags: { apiKey: ["secret"] } });
    const response = await server.app.inject(html);
    expect([response.statusCode, response.body]).toEqual([200, "<!doctype html><p>Ingle"]);
    expect(response.headers).toMatchObject({
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
    expect(response.headers["set-cookie"]).toBeUndefined();
  });

  it("has files that caches keep forever, in an encoding that the client accepts", async () => {
    await using server = await scriptedApp({ page });
    const response = await server.app.inject({ ...asset, headers: { "accept-encoding": "br;q=0, gzip" } });
    expect(response.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "content-encoding": "gzip",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
    });
    expect(response.rawPayload.length).toBeLessThan(500);
    for (const encodings of ["", "identity", "gzip;q=0", "gzipped"]) {
      const plain = await server.app.inject({ ...asset, headers: { "accept-encoding": encodings } });
      expect([plain.body, plain.headers["content-encoding"]]).toEqual([script, undefined]);
    }
  });

  it("is not sent again to a client that has it", async () => {
    await using server = await scriptedApp({ page });
    for (const request of [html, asset]) {
      const { etag } = (await server.app.inject(request)).headers;
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await server.app.inject({ ...request, headers: { "if-none-match": String(known) } });
        expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, "", etag]);
      }
      const other = await server.app.inject({ ...request, headers: { "if-none-match": '"other"' } });
      expect(other.statusCode).toBe(200);
    }
  });

  it("answers HEAD with the same headers and no body", async () => {
    await using server = await scriptedApp({ page });
    for (const request of [html, asset]) {
      const [get, head] = [
        await server.app.inject(request),
        await server.app.inject({ ...request, method: "HEAD" }),
      ];
      const { date: _, "x-request-id": __, ...headers } = head.headers;
      expect([head.statusCode, head.body]).toEqual([200, ""]);
      expect(get.headers).toMatchObject(headers);
      expect(headers["content-length"]).toBe(String(get.rawPayload.length));
    }
  });

  it("is absent without its folder", async () => {
    await using server = await scriptedApp();
    expect((await server.app.inject(html)).json().error.code).toBe("not_found");
  });

  it("that is not built returns a sentence that says so, and the rest works", async () => {
    await using server = await scriptedApp({ page: { problem: "It is <not> built." } });
    const response = await server.app.inject(html);
    expect(response.statusCode).toBe(404);
    expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(response.body).toContain("<p>It is &lt;not&gt; built.</p>");
    expect((await server.app.inject("/v1/models")).statusCode).toBe(200);
    expect((await server.app.inject("/docs")).statusCode).toBe(200);
  });

  it("is not part of the OpenAPI document", async () => {
    await using server = await scriptedApp({ page });
    const { paths } = (await server.app.inject("/openapi.json")).json();
    expect(Object.keys(paths)).not.toContain("/");
    expect(Object.keys(paths)).toContain("/v1/models");
  });

  it("accepts a token in its address only in the app", async () => {
    await using server = await scriptedApp({ page, flags: { apiKey: ["secret"] } });
    const response = await server.app.inject("/?token=secret");
    expect([response.statusCode, response.headers["set-cookie"]]).toEqual([200, undefined]);
  });
});

describe("paths outside the page", () => {
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
  ])("are not served: %s", async (target) => {
    const { registry } = await scriptedRegistry();
    const listener = await openListener(testConfig(), { registry, keys: new KeyRing(), page });
    const socket = connect(listener.port, "127.0.0.1");
    socket.write(requestText(`GET ${target}`));
    const { status, body } = await readResponse(socket);
    expect([404, 400]).toContain(status);
    expect(JSON.parse(body)).toHaveProperty("error.code");
    await listener.close();
    await registry[Symbol.asyncDispose]();
  });

  it("are not WebSocket upgrades either: these get an ordinary response", async () => {
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
    expect((await readResponse(socket)).status).toBe(401);
    await listener.close();
    await registry[Symbol.asyncDispose]();
  });
});
