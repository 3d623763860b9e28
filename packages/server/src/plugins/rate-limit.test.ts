import { describe, expect, it } from "vitest";
import type { ServerFlags } from "../config.ts";
import { testConfig, scriptedApp, type ScriptedApp } from "../../test/harness/scripted-server.ts";

const open = { host: "0.0.0.0" };

async function statuses(
  { app }: ScriptedApp,
  count: number,
  options: { key?: string; remoteAddress?: string; url?: string } = {},
): Promise<number[]> {
  const { key, remoteAddress = "192.0.2.1", url = "/v1/models" } = options;
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const codes: number[] = [];
  for (let index = 0; index < count; index += 1)
    codes.push((await app.inject({ url, headers, remoteAddress })).statusCode);
  return codes;
}

const limited = (flags: ServerFlags = {}) => scriptedApp({ flags: { rateLimit: 2, ...flags } });

describe("the rate limit", () => {
  it("counts by address where there are no keys, and says when to try again", async () => {
    await using scripted = await limited();
    expect(await statuses(scripted, 3)).toEqual([200, 200, 429]);
    expect(await statuses(scripted, 1, { remoteAddress: "192.0.2.2" })).toEqual([200]);
    const refused = await scripted.app.inject({ url: "/v1/models", remoteAddress: "192.0.2.1" });
    expect(refused.json().error).toMatchObject({ code: "rate_limited", type: "rate_limit_error" });
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(60);
  });

  it("counts by key where there are keys, wherever they come from", async () => {
    await using scripted = await limited({ apiKey: ["one", "two"] });
    expect(await statuses(scripted, 2, { key: "one" })).toEqual([200, 200]);
    expect(await statuses(scripted, 1, { key: "one", remoteAddress: "192.0.2.2" })).toEqual([429]);
    expect(await statuses(scripted, 1, { key: "two" })).toEqual([200]);
  });

  it("takes all addresses of one IPv6 network as one", async () => {
    await using scripted = await limited();
    expect(await statuses(scripted, 2, { remoteAddress: "2001:db8::1" })).toEqual([200, 200]);
    expect(await statuses(scripted, 1, { remoteAddress: "2001:db8::2" })).toEqual([429]);
    expect(await statuses(scripted, 1, { remoteAddress: "2001:db8:0:1::1" })).toEqual([200]);
  });

  it("does not count probes", async () => {
    await using scripted = await limited();
    expect(await statuses(scripted, 5, { url: "/readyz" })).toEqual([200, 200, 200, 200, 200]);
  });

  it("is off on loopback, and far away from people elsewhere", () => {
    expect(testConfig().rateLimit).toBe(0);
    expect(testConfig({ ...open, noAuth: true }).rateLimit).toBe(6_000);
    expect(testConfig({ ...open, noAuth: true, rateLimit: 0 }).rateLimit).toBe(0);
  });
});
