import { describe, expect, it } from "vitest";
import { scriptedApp, type ScriptedApp } from "../../test/harness/scripted-server.ts";
import type { RouteList } from "./route-list.ts";

async function ask(authorization: string | undefined, apiKey: string[], url = "/v1/models") {
  return sendHeaders(authorization === undefined ? {} : { authorization }, apiKey, url);
}

async function sendHeaders(headers: Record<string, string>, apiKey: string[], url = "/v1/models") {
  await using scripted = await scriptedApp({ flags: { apiKey } });
  return await scripted.app.inject({ url, headers });
}

describe("without keys", () => {
  it.each([undefined, "Bearer anything", "Bearer ", "Basic abc"])("%s is accepted", async (authorization) => {
    expect((await ask(authorization, [])).statusCode).toBe(200);
  });
});

describe("with keys", () => {
  const keys = ["first-key", "second-key"];

  it.each(["Bearer first-key", "bearer second-key", "Bearer  second-key "])(
    "%s is accepted",
    async (authorization) => {
      expect((await ask(authorization, keys)).statusCode).toBe(200);
    },
  );

  it.each([undefined, "", "Bearer", "Bearer first-key2", "Bearer first-ke", "Basic first-key", "first-key"])(
    "%s is a 401 that says how",
    async (authorization) => {
      const response = await ask(authorization, keys);
      expect(response.statusCode).toBe(401);
      expect(response.headers["www-authenticate"]).toBe("Bearer");
      expect(response.json().error).toMatchObject({ code: "unauthorized", type: "authentication_error" });
    },
  );

  it.each<[Record<string, string>, number]>([
    [{ "x-api-key": "second-key" }, 200],
    [{ "x-api-key": "first-key", authorization: "Bearer wrong" }, 200],
    [{ "x-api-key": "wrong", authorization: "Bearer first-key" }, 200],
    [{ "x-api-key": "wrong" }, 401],
    [{ "x-api-key": "" }, 401],
    [{ "x-api-key": "Bearer first-key" }, 401],
  ])("of the header x-api-key count as well: %j is a %i", async (headers, status) => {
    expect((await sendHeaders(headers, keys)).statusCode).toBe(status);
  });

  it.each(["/livez", "/readyz", "/health"])("%s needs none", async (url) => {
    expect((await ask(undefined, keys, url)).statusCode).toBe(200);
  });

  it("are asked for at unknown paths too", async () => {
    expect((await ask(undefined, keys, "/v1/nothing")).statusCode).toBe(401);
  });
});

describe("wrong keys", () => {
  const right = "Bearer right-key";
  const from = (remoteAddress: string, authorization: string, url = "/v1/models") => ({
    url,
    remoteAddress,
    headers: { authorization },
  });

  async function statuses(scripted: ScriptedApp, ...asked: ReturnType<typeof from>[]): Promise<number[]> {
    const codes: number[] = [];
    for (const one of asked) codes.push((await scripted.app.inject(one)).statusCode);
    return codes;
  }
  const guesses = (count: number, remoteAddress = "192.0.2.1", url?: string) =>
    Array.from({ length: count }, (_, index) => from(remoteAddress, `Bearer guess-${index}`, url));

  it("are ten a minute of one address; then nobody learns there whether a key is right", async () => {
    await using scripted = await scriptedApp({ flags: { apiKey: ["right-key"] } });
    expect(await statuses(scripted, ...guesses(10))).toEqual(Array.from({ length: 10 }, () => 401));
    const refused = await scripted.app.inject(from("192.0.2.1", right));
    expect([refused.statusCode, refused.json().error.code]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(60);
    expect(await statuses(scripted, from("192.0.2.2", right))).toEqual([200]);
  });

  it("do not lock out who shares the address and had the right key before", async () => {
    await using scripted = await scriptedApp({ flags: { apiKey: ["right-key"] } });
    expect(await statuses(scripted, from("192.0.2.1", right), ...guesses(10))).toEqual([
      200,
      ...Array.from({ length: 10 }, () => 401),
    ]);
    expect(await statuses(scripted, ...guesses(1), from("192.0.2.1", right))).toEqual([429, 200]);
    const headers = { authorization: "Bearer guess", "x-api-key": "right-key" };
    const both = await scripted.app.inject({ ...from("192.0.2.1", right), headers });
    expect(both.statusCode).toBe(200);
  });

  it("are no more than --rate-limit, of which keys that are missing are a part", async () => {
    await using scripted = await scriptedApp({ flags: { apiKey: ["right-key"], rateLimit: 2 } });
    expect(await statuses(scripted, ...guesses(6))).toEqual([401, 401, 429, 429, 429, 429]);
    const keyless = Array.from({ length: 3 }, () => ({
      ...from("192.0.2.3", right),
      headers: { authorization: "" },
    }));
    expect(await statuses(scripted, ...keyless)).toEqual([401, 401, 429]);
  });

  it("cannot be told from right ones at paths that need none", async () => {
    await using scripted = await scriptedApp({ flags: { apiKey: ["right-key"] } });
    expect(await statuses(scripted, ...guesses(10, "192.0.2.1", "/health"))).toEqual(
      Array.from({ length: 10 }, () => 200),
    );
    const health = await scripted.app.inject(from("192.0.2.1", right, "/health"));
    expect([health.statusCode, health.json()]).toEqual([200, { status: "ok" }]);
    expect(await statuses(scripted, from("192.0.2.1", right))).toEqual([429]);
  });

  it("are none where no key is needed: clients send any text", async () => {
    await using scripted = await scriptedApp();
    expect(new Set(await statuses(scripted, ...guesses(30)))).toEqual(new Set([200]));
  });
});

describe("every route", () => {
  it("says which right it needs, and these are all", async () => {
    await using scripted = await scriptedApp();
    const routes: RouteList = scripted.app.routeList;
    const needed = routes.map(({ method, path, right }) => `${right} ${method} ${path}`);
    expect(needed.toSorted()).toEqual([
      "inference DELETE /v1/conversations/:id",
      "inference DELETE /v1/conversations/:id/items/:item_id",
      "inference DELETE /v1/files/:id",
      "inference DELETE /v1/responses/:id",
      "inference GET /api/v1/models",
      "inference GET /api/v1/state",
      "inference GET /metrics",
      "inference GET /v1/batches",
      "inference GET /v1/batches/:id",
      "inference GET /v1/conversations/:id",
      "inference GET /v1/conversations/:id/items",
      "inference GET /v1/conversations/:id/items/:item_id",
      "inference GET /v1/files",
      "inference GET /v1/files/:id",
      "inference GET /v1/files/:id/content",
      "inference GET /v1/models",
      "inference GET /v1/models/*",
      "inference GET /v1/responses/:id",
      "inference GET /v1/responses/:id/input_items",
      "inference POST /rerank",
      "inference POST /reranking",
      "inference POST /v1/audio/transcriptions",
      "inference POST /v1/batches",
      "inference POST /v1/batches/:id/cancel",
      "inference POST /v1/chat/completions",
      "inference POST /v1/chat/completions/control",
      "inference POST /v1/chat/completions/input_tokens",
      "inference POST /v1/chat/completions/render",
      "inference POST /v1/completions",
      "inference POST /v1/completions/render",
      "inference POST /v1/conversations",
      "inference POST /v1/conversations/:id",
      "inference POST /v1/conversations/:id/items",
      "inference POST /v1/detokenize",
      "inference POST /v1/embeddings",
      "inference POST /v1/files",
      "inference POST /v1/messages",
      "inference POST /v1/messages/count_tokens",
      "inference POST /v1/rerank",
      "inference POST /v1/reranking",
      "inference POST /v1/responses",
      "inference POST /v1/responses/:id/cancel",
      "inference POST /v1/responses/input_tokens",
      "inference POST /v1/tokenize",
      "inference POST /v2/rerank",
      "management GET /api/v1/events",
      "management GET /api/v1/jobs",
      "management GET /api/v1/machine",
      "management GET /api/v1/models/:id/settings",
      "management GET /api/v1/models/describe",
      "management GET /api/v1/models/recommended",
      "management GET /api/v1/models/search",
      "management GET /api/v1/server",
      "management GET /api/v1/server/keys",
      "management POST /api/v1/jobs",
      "management POST /api/v1/jobs/cancel",
      "management POST /api/v1/jobs/pause",
      "management POST /api/v1/jobs/resume",
      "management POST /api/v1/models/alias",
      "management POST /api/v1/models/estimate",
      "management POST /api/v1/models/load",
      "management POST /api/v1/models/pin",
      "management POST /api/v1/models/pull",
      "management POST /api/v1/models/remove",
      "management POST /api/v1/models/unalias",
      "management POST /api/v1/models/unload",
      "management POST /api/v1/requests/bodies",
      "management POST /api/v1/requests/cancel",
      "management POST /api/v1/server/keys",
      "management POST /api/v1/server/keys/revoke",
      "management POST /api/v1/server/settings",
      "management POST /api/v1/server/start",
      "management POST /api/v1/server/stop",
      "management PUT /api/v1/models/:id/settings",
      "none GET /api/v1/session",
      "none GET /docs",
      "none GET /health",
      "none GET /livez",
      "none GET /openapi.json",
      "none GET /readyz",
      "none POST /api/v1/session",
    ]);
  });

  it("that sets no right does not start", async () => {
    await using scripted = await scriptedApp();
    expect(() => scripted.app.get("/v1/forgotten", async () => "secret")).toThrow(
      /GET \/v1\/forgotten has no config\.right/,
    );
  });
});
