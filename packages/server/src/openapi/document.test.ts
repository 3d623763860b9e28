import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fetchDocument } from "../../test/documented.ts";
import type { ServerFlags } from "../config.ts";
import { scriptedApp, scriptedId } from "../../test/harness/scripted-server.ts";
import { openApiDocument, type OpenApiDocument } from "./document.ts";
import type { ListedRoute } from "./operation.ts";

const open = { hasKeys: false, isRateLimited: false };

function route(listed: Partial<ListedRoute> = {}): ListedRoute {
  return {
    method: "POST",
    path: "/v1/things",
    body: undefined,
    right: "inference",
    operation: undefined,
    ...listed,
  };
}

async function makeDocument(flags: ServerFlags = {}): Promise<OpenApiDocument> {
  await using scripted = await scriptedApp({ flags });
  return fetchDocument(scripted.app);
}

/** The statuses of every operation, by its name such as `GET /health`. */
function listStatuses({ paths }: OpenApiDocument): Record<string, string[]> {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => [
      `${method.toUpperCase()} ${path}`,
      Object.keys(responses),
    ]),
  );
  return Object.fromEntries(operations);
}

describe("the OpenAPI document", () => {
  it.each<ServerFlags>([{}, { apiKey: ["k"], rateLimit: 5 }])("is OpenAPI 3.1 with %j", async (flags) => {
    const document = await makeDocument(flags);
    const { valid, errors } = await new Validator().validate({ ...document });
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(document.openapi).toBe("3.1.0");
  });

  it("has no dangling reference and no unused schema", async () => {
    const document = await makeDocument();
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, to = ""]) => to);
    const names = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect(names.length).toBeGreaterThan(5);
    expect(new Set(references)).toEqual(new Set(names));
  });

  it("says which operations require the right to manage", async () => {
    const { paths } = await makeDocument();
    const managing = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).some(({ description }) => description?.includes("right to manage"))
        ? [path]
        : [],
    );
    const commands = ["alias", "estimate", "load", "pin", "pull", "remove", "unalias", "unload"];
    const reads = ["describe", "recommended", "search", "{id}/settings"];
    const ofModels = [...commands, ...reads].map((name) => `models/${name}`);
    const ofServer = ["", "/keys", "/keys/revoke", "/settings", "/start", "/stop"].map(
      (name) => `server${name}`,
    );
    const ofJobs = ["jobs", "jobs/cancel", "jobs/pause", "jobs/resume"];
    const ofRequests = ["requests/bodies", "requests/cancel"];
    const expected = [...ofModels, ...ofJobs, ...ofRequests, ...ofServer, "events", "machine"].map(
      (name) => `/api/v1/${name}`,
    );
    expect(managing.toSorted()).toEqual(expected.toSorted());
  });

  it("has a unique name for every operation", async () => {
    const { paths } = await makeDocument();
    const ids = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map((each) => each.operationId),
    );
    expect(ids).toContain("postV1ChatCompletions");
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("has a response for every route, and an example for every body", async () => {
    const { paths } = await makeDocument();
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { requestBody, responses }] of Object.entries(methods)) {
        const what = `${method} ${path} needs config.operation, see openapi/operation.ts`;
        expect(Object.keys(responses), what).toContain("200");
        if (requestBody === undefined || "multipart/form-data" in requestBody.content) continue;
        expect(requestBody.content["application/json"]?.example, `${what}: example`).toBeDefined();
      }
    }
  });

  it("describes query parameters", async () => {
    const { paths } = await makeDocument();
    expect(paths["/api/v1/models/search"]?.["get"]?.parameters).toMatchObject([
      { name: "q", in: "query", required: true, schema: { type: "string" } },
      { name: "limit", in: "query", required: false },
    ]);
  });

  it("requires a key only where keys are configured, and never for public routes", async () => {
    const without = await makeDocument();
    expect(without.security).toBeUndefined();
    expect(without.components.securitySchemes).toBeUndefined();
    expect(listStatuses(without)["GET /v1/models"]).not.toContain("401");

    const withKeys = await makeDocument({ apiKey: ["secret-key"] });
    expect(withKeys.security).toEqual([{ bearer: [] }]);
    expect(withKeys.components.securitySchemes).toEqual({ bearer: { type: "http", scheme: "bearer" } });
    expect(withKeys.paths["/health"]?.["get"]?.security).toEqual([]);
    expect(withKeys.paths["/v1/models"]?.["get"]?.security).toBeUndefined();
    const statuses = listStatuses(withKeys);
    expect(statuses["GET /v1/models"]).toContain("401");
    expect(statuses["GET /health"]).not.toContain("401");
    expect(JSON.stringify(withKeys)).not.toContain("secret-key");
  });

  it("has the default of an optional field, and says that null may stand for absent", async () => {
    const { components } = await makeDocument();
    const { properties } = components.schemas["ChatCompletionRequest"] ?? {};
    expect(properties?.["temperature"]).toMatchObject({
      default: 1,
      anyOf: [{ type: "number", minimum: 0 }, { type: "null" }],
    });
    expect(properties?.["seed"]).toMatchObject({ anyOf: [{ type: "integer" }, { type: "null" }] });
  });

  it("has defaults that change nothing when they are sent", async () => {
    await using scripted = await scriptedApp();
    const { components } = await fetchDocument(scripted.app);
    const fields = Object.entries(components.schemas["ChatCompletionRequest"]?.properties ?? {});
    const defaults = fields.flatMap(([name, field]) =>
      typeof field === "object" && field.default !== undefined ? [[name, field.default] as const] : [],
    );
    expect(defaults.length).toBeGreaterThan(10);
    const body = { model: scriptedId, messages: [{ role: "user", content: "Hi" }], seed: 1, user: "a" };
    for (const payload of [body, { ...body, ...Object.fromEntries(defaults) }]) {
      const response = await scripted.app.inject({ method: "POST", url: "/v1/chat/completions", payload });
      expect(response.statusCode, response.body).toBe(200);
    }
    const { requests, chats } = scripted.log;
    expect([requests[1], chats[1]]).toEqual([requests[0], chats[0]]);
    expect(requests).toHaveLength(2);
  });

  it("describes every field", async () => {
    const { components } = await makeDocument();
    const kinds = ["type", "$ref", "anyOf", "oneOf", "enum", "const"];
    for (const [name, { properties = {} }] of Object.entries(components.schemas)) {
      const untold = Object.entries(properties).filter(
        ([, field]) => typeof field !== "object" || !kinds.some((kind) => kind in field),
      );
      expect(untold, name).toEqual([]);
    }
  });

  it("allows fields of later versions in responses", async () => {
    const { components } = await makeDocument();
    expect(components.schemas["ChatCompletion"]).not.toHaveProperty("additionalProperties");
  });
});

describe("a route", () => {
  it("is listed without declaring anything", () => {
    const body = z.looseObject({ size: z.int() }).meta({ id: "Thing" });
    const { paths, components } = openApiDocument([route({ body })], open);
    expect(paths["/v1/things"]?.["post"]).toMatchObject({
      summary: "POST /v1/things",
      requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } } },
      responses: { 400: {}, 403: {}, 413: {}, 415: {}, 429: {}, 500: {} },
    });
    expect(components.schemas["Thing"]).toEqual({
      type: "object",
      properties: { size: { type: "integer" } },
      required: ["size"],
    });
  });

  it("may have its own error body, in responses and in its stream", () => {
    const errorBody = z.object({ oops: z.string() });
    const operation = { summary: "Things", responses: { 200: z.object({}) }, event: z.string(), errorBody };
    const { paths, components } = openApiDocument([route({ operation })], open);
    const own = { type: "object", properties: { oops: { type: "string" } }, required: ["oops"] };
    const { responses } = paths["/v1/things"]?.["post"] ?? {};
    expect(responses?.["403"]?.content["application/json"]?.schema).toMatchObject({ required: ["oops"] });
    expect(responses?.["200"]?.content["text/event-stream"]?.schema.anyOf).toEqual([{ type: "string" }, own]);
    expect(components.schemas).toEqual({});
  });

  it("cannot use an id that another route's schema has", () => {
    const [one, other] = [z.string(), z.number()].map((schema) =>
      route({ path: `/${schema.type}`, body: schema.meta({ id: "Same" }) }),
    );
    expect(() =>
      openApiDocument(
        [one, other].flatMap((each) => each ?? []),
        open,
      ),
    ).toThrow(/Same/);
  });
});
