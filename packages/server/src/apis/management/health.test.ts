import { describe, expect, it } from "vitest";
import { buildApp } from "../../app.ts";
import { ModelRegistry } from "../../models/registry.ts";
import { scriptedApp, scriptedId, testConfig } from "../../../test/harness/scripted-server.ts";

describe("/livez", () => {
  it("is 200 whatever the model does", async () => {
    const app = await buildApp(testConfig(), { registry: new ModelRegistry({ waitingMax: 1 }) });
    expect((await app.inject({ url: "/livez" })).statusCode).toBe(200);
  });
});

describe.each(["/readyz", "/health"])("%s", (url) => {
  it("is 200 with a model, until the server stops", async () => {
    await using scripted = await scriptedApp();
    const ready = await scripted.app.inject({ url });
    expect([ready.statusCode, ready.json()]).toEqual([200, { status: "ok", model: scriptedId }]);
    await scripted.registry[Symbol.asyncDispose]();
    const stopping = await scripted.app.inject({ url });
    expect([stopping.statusCode, stopping.json()]).toEqual([503, { status: "shutting_down" }]);
    expect(Number(stopping.headers["retry-after"])).toBeGreaterThan(0);
  });

  it("contains the model's id only for clients that may use it", async () => {
    await using scripted = await scriptedApp({ flags: { apiKey: ["k"] } });
    const bodies = ["Bearer wrong", "Bearer k", ""].map(async (authorization) =>
      (await scripted.app.inject({ url, headers: { authorization } })).json(),
    );
    expect(await Promise.all(bodies)).toEqual([
      { status: "ok" },
      { status: "ok", model: scriptedId },
      { status: "ok" },
    ]);
  });

  it("is 200 while the model is unloaded for idleness: the next request loads it again", async () => {
    await using scripted = await scriptedApp({ flags: { idleUnload: "1s" } });
    await expect.poll(() => scripted.registry.readiness().status, { timeout: 5_000 }).toBe("idle");
    const idle = await scripted.app.inject({ url });
    expect([idle.statusCode, idle.json()]).toEqual([200, { status: "idle", model: scriptedId }]);
  });

  it("is 503 with the progress while the model loads, and after the load failed", async () => {
    const registry = new ModelRegistry({ waitingMax: 1 });
    const app = await buildApp(testConfig(), { registry });
    const ask = async () => {
      const response = await app.inject({ url });
      return [response.statusCode, response.json()];
    };
    expect(await ask()).toEqual([503, { status: "empty" }]);
    let fail: (error: Error) => void = () => {};
    const loading = registry.load("a", (onProgress) => {
      onProgress(0.5);
      return new Promise((_resolve, reject) => {
        fail = reject;
      });
    });
    await expect.poll(ask).toEqual([503, { status: "loading", model: "a", progress: 0.5 }]);
    fail(new Error("broken"));
    await expect(loading).rejects.toThrow();
    expect(await ask()).toEqual([503, { status: "failed", model: "a" }]);
  });
});
