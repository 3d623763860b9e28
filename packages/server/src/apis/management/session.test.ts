import { createHash } from "node:crypto";
import type { InjectOptions } from "fastify";
import { describe, expect, it } from "vitest";
import { KeyRing } from "../../access/keys.ts";
import { scriptedApp, testConfig, type ScriptedApp } from "../../../test/harness/scripted-server.ts";

const flags = { apiKey: ["tenant-tenant-tenant"], adminKey: ["admin-admin-admin"] };
const origin = "http://localhost:1337";
const host = "localhost:1337";
const own = { host, origin, "sec-fetch-site": "same-origin" };
const models: InjectOptions = { url: "/v1/models" };
const unload: InjectOptions = { method: "POST", url: "/api/v1/models/unload", payload: { model: "x" } };

async function begin(server: ScriptedApp, key: string, headers: Record<string, string> = own) {
  return await server.app.inject({ method: "POST", url: "/api/v1/session", payload: { key }, headers });
}

async function cookieFor(server: ScriptedApp, key: string): Promise<string> {
  const response = await begin(server, key);
  return String(response.headers["set-cookie"]).split(";")[0] ?? "";
}

async function statuses(server: ScriptedApp, headers: Record<string, string>): Promise<number[]> {
  const responses: number[] = [];
  for (const request of [models, unload])
    responses.push((await server.app.inject({ ...request, headers })).statusCode);
  return responses;
}

describe("a session of a server with keys", () => {
  it.each([
    ["tenant-tenant-tenant", "inference", [200, 403]],
    ["admin-admin-admin", "management", [200, 404]],
  ] as const)("may do what its key %s may", async (key, right, answered) => {
    await using server = await scriptedApp({ flags });
    const response = await begin(server, key);
    expect(response.json()).toEqual({ right, is_app: false, keeps_chats: false });
    expect(response.headers["set-cookie"]).toMatch(
      /^ingle-1337=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/,
    );
    const cookie = await cookieFor(server, key);
    expect(await statuses(server, { ...own, cookie })).toEqual(answered);
    expect(await statuses(server, { ...own, cookie, origin: "http://localhost:3000" })).toEqual([401, 401]);
    const { body } = await server.app.inject({ url: "/api/v1/session", headers: { ...own, cookie } });
    expect(JSON.parse(body)).toEqual({ right, is_app: false, keeps_chats: false });
  });

  it("has a cookie for HTTPS only if the page was loaded with it, also through a trusted proxy", async () => {
    await using server = await scriptedApp({
      flags: { ...flags, trustProxy: ["127.0.0.1"], allowHost: ["chat.example"] },
    });
    const headers = {
      host: "127.0.0.1:1337",
      origin: "https://chat.example",
      "x-forwarded-host": "chat.example",
      "x-forwarded-proto": "https",
      "x-forwarded-for": "192.0.2.1",
    };
    const response = await begin(server, "admin-admin-admin", headers);
    expect(response.headers["set-cookie"]).toMatch(/^ingle-443=.*; Path=\/; Secure$/);
    const cookie = String(response.headers["set-cookie"]).split(";")[0] ?? "";
    expect(await statuses(server, { ...headers, cookie })).toEqual([200, 404]);
  });

  it("ends when its key is revoked", async () => {
    const config = testConfig(flags);
    const keys = new KeyRing(config);
    await using server = await scriptedApp({ flags, keys });
    const cookie = await cookieFor(server, "admin-admin-admin");
    const digest = createHash("sha256").update("another-key-another").digest("hex");
    keys.replace("--admin-key", "management", [digest]);
    expect(await statuses(server, { ...own, cookie })).toEqual([401, 401]);
  });

  it("is counted by its key, not by its address", async () => {
    await using server = await scriptedApp({ flags: { ...flags, rateLimit: 2 } });
    const cookie = await cookieFor(server, "tenant-tenant-tenant");
    const asked = { ...models, headers: { ...own, cookie } };
    const bearer = { ...models, headers: { host, authorization: "Bearer tenant-tenant-tenant" } };
    const responses: number[] = [];
    for (const each of [asked, bearer, asked, bearer])
      responses.push((await server.app.inject(each)).statusCode);
    expect(responses).toEqual([200, 200, 429, 429]);
  });

  it("is refused with a wrong key, and after ten in a minute with any key", async () => {
    await using server = await scriptedApp({ flags });
    for (let guess = 0; guess < 10; guess += 1) {
      const response = await begin(server, `guess-${guess}`);
      expect([response.statusCode, response.json().error.param]).toEqual([401, "key"]);
      expect(response.headers["set-cookie"]).toBeUndefined();
    }
    const held = await begin(server, "admin-admin-admin");
    expect([held.statusCode, held.headers["set-cookie"]]).toEqual([429, undefined]);
    expect(Number(held.headers["retry-after"])).toBeGreaterThan(0);
  });

  it("can only be started by the server's own page", async () => {
    await using server = await scriptedApp({ flags });
    const others: Record<string, string>[] = [
      { host, origin: "http://localhost:3000" },
      { host, "sec-fetch-site": "cross-site" },
    ];
    for (const headers of others) {
      const response = await begin(server, "admin-admin-admin", headers);
      expect([response.statusCode, response.headers["set-cookie"]]).toEqual([403, undefined]);
    }
  });
});

it("a server without keys returns what its page may do without one", async () => {
  await using server = await scriptedApp();
  const right = async (headers: Record<string, string>): Promise<unknown> =>
    (await server.app.inject({ url: "/api/v1/session", headers })).json();
  expect(await right({ host, "sec-fetch-site": "same-origin" })).toEqual({
    right: "management",
    is_app: false,
    keeps_chats: false,
  });
  expect(await right({ host, origin: "http://localhost:3000" })).toEqual({
    right: "inference",
    is_app: false,
    keeps_chats: false,
  });
});
