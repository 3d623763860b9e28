import { describe, expect, it } from "vitest";
import { buildApp } from "../../app.ts";
import { ModelRegistry } from "../../models/registry.ts";
import { scriptedApp, scriptedId, testConfig } from "../../../test/harness/scripted-server.ts";

describe.each([
  ["/openapi.json", "application/json; charset=utf-8"],
  ["/docs", "text/html; charset=utf-8"],
])("GET %s", (url, type) => {
  it("needs no model and no key, and is not rate-limited", async () => {
    const app = await buildApp(testConfig({ apiKey: ["k"], rateLimit: 1 }), {
      registry: new ModelRegistry({ waitingMax: 1 }),
    });
    for (let round = 0; round < 3; round += 1) {
      const response = await app.inject({ url });
      expect([response.statusCode, response.headers["content-type"]]).toEqual([200, type]);
    }
    expect((await app.inject({ url: "/v1/models" })).statusCode).toBe(401);
  });

  it("contains a model id only for clients that may use it", async () => {
    await using scripted = await scriptedApp({ flags: { apiKey: ["k"] } });
    expect((await scripted.app.inject({ url })).body).not.toContain(scriptedId);
    await using open = await scriptedApp();
    expect((await open.app.inject("/docs")).body).toContain(scriptedId);
  });

  it("is refused for a Host or Origin that is not allowed", async () => {
    await using scripted = await scriptedApp();
    expect((await scripted.app.inject({ url, headers: { host: "evil.example" } })).statusCode).toBe(403);
    expect((await scripted.app.inject({ url, headers: { origin: "https://evil.example" } })).statusCode).toBe(
      403,
    );
  });

  it("is the same for concurrent requests", async () => {
    await using scripted = await scriptedApp();
    const bodies = await Promise.all(
      Array.from({ length: 5 }, async () => (await scripted.app.inject({ url })).body),
    );
    expect(new Set(bodies).size).toBe(1);
  });
});

it("answers HEAD, and POST with 405", async () => {
  await using scripted = await scriptedApp();
  const head = await scripted.app.inject({ method: "HEAD", url: "/openapi.json" });
  expect([head.statusCode, head.body]).toEqual([200, ""]);
  const post = await scripted.app.inject({ method: "POST", url: "/docs" });
  expect([post.statusCode, post.headers["allow"]]).toEqual([405, "GET, HEAD"]);
});

it("GET /docs sends the page's content security policy", async () => {
  await using scripted = await scriptedApp();
  const { headers } = await scripted.app.inject("/docs");
  expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(headers["x-content-type-options"]).toBe("nosniff");
});

it("GET /docs contains the address of the request, whatever an earlier request used", async () => {
  await using scripted = await scriptedApp();
  for (const host of ["localhost:1", "127.0.0.1:2", "localhost:1"]) {
    const { body } = await scripted.app.inject({ url: "/docs", headers: { host } });
    expect(body).toContain(`curl http://${host}/v1/models`);
  }
});
