// Who may load, download and remove models, for every way in which a client can reach the server.
import type { InjectOptions } from "fastify";
import { describe, expect, it } from "vitest";
import { KeyRing } from "../src/access/keys.ts";
import { buildApp } from "../src/app.ts";
import type { ServerFlags } from "../src/config.ts";
import { ModelRegistry } from "../src/models/registry.ts";
import { scriptedLibrary } from "./harness/scripted-library.ts";
import { scriptedKnown } from "./harness/scripted-models.ts";
import { testConfig } from "./harness/scripted-server.ts";

const token = "t".repeat(43);

/** A management request, and what must be allowed for it. */
const managing: InjectOptions[] = [
  ...["load", "unload", "pull", "remove", "alias", "unalias"].map((name): InjectOptions => ({
    method: "POST",
    url: `/api/v1/models/${name}`,
    payload: { model: "a", alias: "daily" },
  })),
  { url: "/api/v1/models/search?q=tiny" },
  { url: "/api/v1/models/describe?repo=acme/tiny-GGUF" },
  { url: "/api/v1/models/recommended" },
];
const using_: InjectOptions[] = [{ url: "/v1/models" }, { url: "/api/v1/models" }, { url: "/api/v1/state" }];

/** The statuses of requests, each to a fresh server that knows the model `a`. */
async function statuses(
  flags: ServerFlags,
  requests: readonly InjectOptions[],
  change: InjectOptions = {},
): Promise<number[]> {
  const answered: number[] = [];
  for (const request of requests) {
    const installed = [scriptedKnown("a", { aliases: ["daily"] })];
    const { library, finish } = scriptedLibrary(installed);
    finish.open();
    const registry = new ModelRegistry({
      waitingMax: 9,
      onLoading: "wait",
      source: { known: async () => installed },
    });
    const config = testConfig(flags);
    const keys = new KeyRing(config);
    keys.addToken(token);
    const app = await buildApp(config, { registry, library, keys });
    answered.push((await app.inject({ ...request, ...change })).statusCode);
    await app.close();
  }
  return answered;
}

const every = (requests: readonly InjectOptions[], status: number): number[] => requests.map(() => status);
const from = (headers: Record<string, string>, remoteAddress = "127.0.0.1"): InjectOptions => ({
  headers: { host: "localhost:1337", ...headers },
  remoteAddress,
});
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe("with keys", () => {
  const flags = { apiKey: ["tenant-tenant-tenant"], adminKey: ["admin-admin-admin"] };

  it("an inference key may use models but not manage them", async () => {
    const tenant = from(bearer("tenant-tenant-tenant"));
    expect(await statuses(flags, using_, tenant)).toEqual(every(using_, 200));
    expect(await statuses(flags, managing, tenant)).toEqual(every(managing, 403));
  });

  it("a management key may do both, from anywhere", async () => {
    const admin = from({ ...bearer("admin-admin-admin"), origin: "http://localhost:3000" }, "192.0.2.1");
    expect(await statuses(flags, [...using_, ...managing], admin)).toEqual(
      every([...using_, ...managing], 200),
    );
  });

  it("the better of two keys counts", async () => {
    const both = from({ ...bearer("tenant-tenant-tenant"), "x-api-key": "admin-admin-admin" });
    expect(await statuses(flags, managing, both)).toEqual(every(managing, 200));
  });

  it("nobody may do anything without a key, even on this machine", async () => {
    expect(await statuses(flags, [...using_, ...managing], from({}))).toEqual(
      every([...using_, ...managing], 401),
    );
  });

  it("the server's own token may manage, even if there are only inference keys", async () => {
    const own = from(bearer(token));
    expect(await statuses({ apiKey: flags.apiKey }, managing, own)).toEqual(every(managing, 200));
  });
});

describe("without keys, on loopback", () => {
  it("a program on this machine may manage", async () => {
    expect(await statuses({}, [...using_, ...managing], from({}))).toEqual(
      every([...using_, ...managing], 200),
    );
    expect(await statuses({}, managing, from({ host: "[::1]:1337" }, "::ffff:127.0.0.1"))).toEqual(
      every(managing, 200),
    );
  });

  it("the server's own pages may manage", async () => {
    const own = from({ origin: "http://localhost:1337", "sec-fetch-site": "same-origin" });
    expect(await statuses({}, managing, own)).toEqual(every(managing, 200));
  });

  it.each<[Record<string, string>]>([
    [{ origin: "http://localhost:3000" }],
    [{ origin: "https://localhost:1337" }],
    [{ origin: "app://obsidian.md" }],
    [{ "sec-fetch-site": "same-site" }],
    [{ "sec-fetch-site": "cross-site" }],
    [{ "sec-fetch-site": "none", "sec-fetch-mode": "cors" }],
  ])("a page of another origin may use models but not manage them: %j", async (headers) => {
    expect(await statuses({}, using_, from(headers))).toEqual(every(using_, 200));
    expect(await statuses({}, managing, from(headers))).toEqual(every(managing, 403));
  });

  it("other pages may manage with a key or if --allow-origin names them", async () => {
    const flags = { allowOrigin: ["https://chat.example"] };
    const page = { origin: "https://chat.example" };
    expect(await statuses(flags, using_, from(page))).toEqual(every(using_, 200));
    expect(await statuses(flags, managing, from(page))).toEqual(every(managing, 403));
    expect(await statuses(flags, managing, from({ ...page, ...bearer(token) }))).toEqual(
      every(managing, 200),
    );
  });

  it.each<Record<string, string>>([
    { "x-forwarded-for": "127.0.0.1" },
    { "x-forwarded-host": "localhost" },
    { "x-forwarded-proto": "https" },
    { "x-real-ip": "127.0.0.1" },
    { forwarded: "for=127.0.0.1" },
    { via: "1.1 caddy" },
    { "cf-connecting-ip": "127.0.0.1" },
    { "true-client-ip": "127.0.0.1" },
    { "fly-client-ip": "127.0.0.1" },
  ])("a request through a proxy may not manage: %j", async (headers) => {
    expect(await statuses({}, using_, from(headers))).toEqual(every(using_, 200));
    expect(await statuses({}, managing, from(headers))).toEqual(every(managing, 403));
  });

  it("a request to a host name other than loopback's may not manage", async () => {
    const flags = { allowHost: ["models.example"] };
    const proxied = from({ host: "models.example" });
    expect(await statuses(flags, using_, proxied)).toEqual(every(using_, 200));
    expect(await statuses(flags, managing, proxied)).toEqual(every(managing, 403));
    const docker = from({ host: "host.docker.internal:1337" });
    expect(await statuses({ allowHost: ["host.docker.internal"] }, managing, docker)).toEqual(
      every(managing, 403),
    );
  });

  it("a request from another machine may not manage", async () => {
    expect(await statuses({}, managing, from({}, "192.0.2.1"))).toEqual(every(managing, 403));
  });
});

describe("behind a trusted proxy", () => {
  const flags = { trustProxy: ["127.0.0.1"] };

  it.each<[string, Record<string, string>, string, number]>([
    ["its client on this machine", { "x-forwarded-for": "127.0.0.1" }, "127.0.0.1", 200],
    ["its client elsewhere", { "x-forwarded-for": "192.0.2.1" }, "127.0.0.1", 403],
    [
      "a client elsewhere that claims to be here",
      { "x-forwarded-for": "127.0.0.1, 192.0.2.1" },
      "127.0.0.1",
      403,
    ],
    ["a request without the client's address", {}, "127.0.0.1", 403],
    ["a request with another header for it", { "x-real-ip": "127.0.0.1" }, "127.0.0.1", 403],
    ["a name that looks local", { "x-forwarded-for": "localhost" }, "127.0.0.1", 403],
    [
      "a client with another host name",
      { "x-forwarded-for": "127.0.0.1", "x-forwarded-host": "models.example" },
      "127.0.0.1",
      403,
    ],
    ["another machine that is not a proxy", { "x-forwarded-for": "127.0.0.1" }, "192.0.2.1", 403],
  ])("%s gets the right status", async (_who, headers, peer, status) => {
    const asked = from(headers, peer);
    const allowing = { ...flags, allowHost: ["models.example"] };
    expect(await statuses(allowing, managing, asked)).toEqual(every(managing, status));
  });
});

describe("open to other machines without a key", () => {
  const flags = { host: "0.0.0.0", noAuth: true };

  it("everybody may use models, but only the server's own token may manage", async () => {
    for (const peer of ["127.0.0.1", "192.0.2.1"]) {
      expect(await statuses(flags, using_, from({}, peer))).toEqual(every(using_, 200));
      expect(await statuses(flags, managing, from({}, peer))).toEqual(every(managing, 403));
    }
    expect(await statuses(flags, managing, from(bearer(token)))).toEqual(every(managing, 200));
  });
});
