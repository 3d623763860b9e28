import { AnthropicErrorBody, ModelEntry, ModelList } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { buildApp } from "../../app.ts";
import { ModelRegistry } from "../../models/registry.ts";
import {
  scriptedApp,
  scriptedId,
  scriptedRegistry,
  testConfig,
} from "../../../test/harness/scripted-server.ts";

describe("GET /v1/models", () => {
  it("lists the served model, in the published format", async () => {
    await using server = await scriptedApp();
    const list = ModelList.parse((await server.app.inject({ url: "/v1/models" })).json());
    expect(list.data.map(({ id, status }) => [id, status])).toEqual([[scriptedId, "loaded"]]);
  });

  it("has an empty list in Codex's own form for Codex, which cannot read it otherwise", async () => {
    await using server = await scriptedApp();
    const response = await server.app.inject({ url: "/v1/models?client_version=0.130.0" });
    expect(ModelList.parse(response.json())).toMatchObject({ data: [{ id: scriptedId }], models: [] });
  });

  it("is empty without a model", async () => {
    const app = await buildApp(testConfig(), { registry: new ModelRegistry({ waitingMax: 1 }) });
    expect((await app.inject({ url: "/v1/models" })).json()).toEqual({ object: "list", data: [] });
  });
});

describe("model errors", () => {
  it.each([
    ["/v1/models/none", 404, "not_found_error"],
    ["/v1/models?limit=0", 400, "invalid_request_error"],
  ])("of %s have the client's format", async (url, status, type) => {
    await using server = await scriptedApp();
    const asked = await server.app.inject({ url, headers: { "anthropic-version": "2023-06-01" } });
    const { error, request_id } = AnthropicErrorBody.parse(asked.json());
    expect([asked.statusCode, error.type, request_id]).toEqual([status, type, asked.headers["x-request-id"]]);
    const other = await server.app.inject({ url });
    expect([other.statusCode, Object.keys(other.json())]).toEqual([status, ["error"]]);
  });
});

describe("GET /v1/models/{id}", () => {
  it.each(["vendor/model-8B", "vendor%2Fmodel-8B"])(
    "finds an id whose slash is written as %s",
    async (written) => {
      const { model } = await scriptedRegistry();
      const registry = new ModelRegistry({ waitingMax: 1 });
      await registry.load("vendor/model-8B", async () => ({
        model,
        tokenizer: model.tokenizer,
        processor: model.processor,
        [Symbol.asyncDispose]: async () => {},
      }));
      const app = await buildApp(testConfig(), { registry });
      const response = await app.inject({ url: `/v1/models/${written}` });
      expect(ModelEntry.parse(response.json()).id).toBe("vendor/model-8B");
    },
  );
});
