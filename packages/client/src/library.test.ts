import { expect, test } from "vitest";

import { events, json } from "../test/misbehaving-server.ts";
import { serverAndClient } from "../test/server-and-client.ts";

const { server, client } = await serverAndClient("/proxy/v1");

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const half = { status: "download", model: "acme/tiny:Q4_0", bytes: 5, total_bytes: 10 };
const done = { ...half, status: "done", bytes: 10 };

test("queries are encoded, whatever characters they contain", async () => {
  server.respond(
    json({ object: "list", data: [] }),
    json({ object: "list", data: [] }),
    json({ models: [] }),
  );
  expect((await client.library.search("tiny & small", { limit: 3 })).data).toEqual([]);
  await client.library.search("tiny");
  await client.library.describe("acme/tiny?");
  expect(server.seen.map(({ method, url }) => [method, url])).toEqual([
    ["GET", "/proxy/api/v1/models/search?q=tiny%20%26%20small&limit=3"],
    ["GET", "/proxy/api/v1/models/search?q=tiny"],
    ["GET", "/proxy/api/v1/models/describe?repo=acme%2Ftiny%3F"],
  ]);
});

test("the recommended model is requested", async () => {
  const model = { model: "acme/tiny:Q4_K_M", reason: "largest_that_fits" };
  server.respond(json(model));
  expect(await client.library.recommended()).toEqual(model);
  expect(server.seen[0]?.url).toBe("/proxy/api/v1/models/recommended");
});

test("management requests name the model, and contain only the given options", async () => {
  const model = { id: "a", status: "loaded" };
  const named = { id: "a", aliases: ["daily"] };
  server.respond(json(model), json(model), json({ id: "a", removed: true }), json(named), json(named));
  await client.library.load("a", { wait: false });
  expect(await client.library.unload("a")).toEqual(model);
  await client.library.remove("a");
  await client.library.setAlias("daily", "a");
  expect((await client.library.removeAlias("daily")).id).toBe("a");
  expect(server.seen.map(({ method, url, body }) => [method, url, JSON.parse(body)])).toEqual([
    ["POST", "/proxy/api/v1/models/load", { model: "a", wait: false }],
    ["POST", "/proxy/api/v1/models/unload", { model: "a" }],
    ["POST", "/proxy/api/v1/models/remove", { model: "a" }],
    ["POST", "/proxy/api/v1/models/alias", { alias: "daily", model: "a" }],
    ["POST", "/proxy/api/v1/models/unalias", { alias: "daily" }],
  ]);
});

test("a load request contains its settings", async () => {
  server.respond(json({ id: "a", status: "loaded" }));
  await client.library.load("a", { context_length: 4096, kv_bits: 8, kv_bits_v: 4 });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({
    model: "a",
    context_length: 4096,
    kv_bits: 8,
    kv_bits_v: 4,
  });
});

test("a pull reports progress, and at the end the model", async () => {
  server.respond(events(data(half), ": still there\n\n", data(done), "data: [DONE]\n\n"));
  const pull = await client.library.pull("acme/tiny");
  const seen: unknown[] = [];
  for await (const { status, bytes } of pull) seen.push([status, bytes]);
  expect(seen).toEqual([
    ["download", 5],
    ["done", 10],
  ]);
  expect(await pull.finalEvent()).toEqual(done);
  expect(await (await client.library.pull("acme/tiny")).finalEvent()).toEqual(done);
});

test("an incomplete pull never looks complete", async () => {
  const error = { message: "The disk is full.", type: "server_error", param: null, code: "engine_failed" };
  server.respond(
    events(data(half), data({ error })),
    events(data(half)),
    events(data(half), "data: [DONE]\n\n"),
    events(data({ choices: [] })),
  );
  for (const code of ["engine_failed", "stream_incomplete", "stream_incomplete", "stream_invalid"]) {
    const pull = await client.library.pull("acme/tiny");
    await expect(pull.finalEvent()).rejects.toMatchObject({ name: "StreamError", code });
  }
});

test("a response of another shape is an error", async () => {
  server.respond(json({ ok: true }));
  const { library } = client;
  for (const asked of [
    library.search("x"),
    library.describe("a/b"),
    library.list(),
    library.load("a"),
    library.remove("a"),
    library.setAlias("b", "a"),
  ])
    await expect(asked).rejects.toMatchObject({ name: "ApiError", status: 200 });
  await expect(library.pull("a")).rejects.toMatchObject({ name: "ApiError" });
});
