import { expect, test } from "vitest";

import { json, startServer } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";
import { Ingle } from "./client.ts";
import { ConnectionError } from "./errors.ts";

const { server, client } = await serverAndClient("/proxy/v1", { maxRetries: 2 });

test("requests routes beside /v1, not below it", async () => {
  server.respond(json({ status: "ok" }));
  expect(await client.server.livez()).toEqual({ status: "ok" });
  await client.server.readyz();
  await client.server.health();
  expect(server.seen.map(({ url }) => url)).toEqual(["/proxy/livez", "/proxy/readyz", "/proxy/health"]);
});

test("a server that is not ready is a result, not an error, and is not retried", async () => {
  const loading = { status: "loading", model: "tiny", progress: 0.5 };
  server.respond(json(loading, 503, { "retry-after": "30" }));
  expect(await client.server.readyz()).toEqual({ ...loading, isReady: false });
  expect(server.seen).toHaveLength(1);
});

test.each([
  ["ok", true],
  ["idle", true],
  ["empty", false],
  ["failed", false],
  ["shutting_down", false],
])("%s is ready: %s", async (status, isReady) => {
  server.respond(json({ status }, isReady ? 200 : 503));
  expect(await client.server.health()).toEqual({ status, isReady });
});

test("a response of another shape is an error", async () => {
  server.respond((response) =>
    response.writeHead(503, { "content-type": "text/html" }).end("<h1>nginx</h1>"),
  );
  await expect(client.server.readyz()).rejects.toMatchObject({ name: "ApiError", status: 503 });
  server.respond(json({ ok: true }));
  await expect(client.server.livez()).rejects.toMatchObject({ name: "ApiError", status: 200 });
  expect(server.seen).toHaveLength(1);
});

test("an unreachable server rejects at once", async () => {
  const gone = await startServer();
  await gone[Symbol.asyncDispose]();
  await expect(new Ingle({ baseUrl: gone.url }).server.livez()).rejects.toSatisfy(ConnectionError.is);
});
