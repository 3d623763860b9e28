import { describe, expect, it } from "vitest";
import { buildApp } from "../app.ts";
import { ModelRegistry } from "../models/registry.ts";
import { scriptedApp, scriptedId, testConfig } from "../testing/scripted-server.ts";

describe.each([
  ["/openapi.json", "application/json; charset=utf-8"],
  ["/docs", "text/html; charset=utf-8"],
])("GET %s", (url, type) => {
  it("needs no model, no key and no rate", async () => {
    const app = await buildApp(testConfig({ apiKey: ["k"], rateLimit: 1 }), {
      registry: new ModelRegistry({ waitingMax: 1 }),
    });
    for (let round = 0; round < 3; round += 1) {
      const response = await app.inject({ url });
      expect([response.statusCode, response.headers["content-type"]]).toEqual([200, type]);
    }
    expect((await app.inject({ url: "/v1/models" })).statusCode).toBe(401);
  });

  it("names the model to those alone who may use it", async () => {
    await using scripted = await scriptedApp({ flags: { apiKey: ["k"] } });
    expect((await scripted.app.inject({ url })).body).not.toContain(scriptedId);
    await using open = await scriptedApp();
    expect((await open.app.inject("/docs")).body).toContain(scriptedId);
  });

  it("is refused by a name or to a page that is not allowed", async () => {
    await using scripted = await scriptedApp();
    expect((await scripted.app.inject({ url, headers: { host: "evil.example" } })).statusCode).toBe(403);
    expect((await scripted.app.inject({ url, headers: { origin: "https://evil.example" } })).statusCode).toBe(
      403,
    );
  });

  it("is the same to everybody who asks at the same time", async () => {
    await using scripted = await scriptedApp();
    const bodies = await Promise.all(
      Array.from({ length: 5 }, async () => (await scripted.app.inject({ url })).body),
    );
    expect(new Set(bodies).size).toBe(1);
  });
});

it("answers HEAD, and 405 to a POST", async () => {
  await using scripted = await scriptedApp();
  const head = await scripted.app.inject({ method: "HEAD", url: "/openapi.json" });
  expect([head.statusCode, head.body]).toEqual([200, ""]);
  const post = await scripted.app.inject({ method: "POST", url: "/docs" });
  expect([post.statusCode, post.headers["allow"]]).toEqual([405, "GET, HEAD"]);
});

it("GET /docs sends the policy of its page", async () => {
  await using scripted = await scriptedApp();
  const { headers } = await scripted.app.inject("/docs");
  expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(headers["x-content-type-options"]).toBe("nosniff");
});

it("GET /docs names the address that it was asked by, whoever asked before", async () => {
  await using scripted = await scriptedApp();
  for (const host of ["localhost:1", "127.0.0.1:2", "localhost:1"]) {
    const { body } = await scripted.app.inject({ url: "/docs", headers: { host } });
    expect(body).toContain(`curl http://${host}/v1/models`);
  }
});
