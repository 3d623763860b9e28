// Every route with every applicable kind of invalid request: each response must be one that /openapi.json documents.
import type { FastifyInstance, InjectOptions } from "fastify";
import type { Script } from "@ingle/fixtures/scripted-addon";
import { describe, expect, it } from "vitest";
import type { ServerFlags } from "../src/config.ts";
import { scriptedApp, scriptedId } from "./harness/scripted-server.ts";
import { fetchDocument, expectDocumented } from "./documented.ts";

const key = { authorization: "Bearer k" };
const json = { "content-type": "application/json", ...key };

interface RightRequest {
  /** Its name in the document. */
  operation: string;
  /** It needs no key. */
  isPublic: boolean;
  url: string;
  headers: Record<string, string>;
  /** Absent if the operation has none. */
  payload?: object;
  /** Whether all fields of its body are optional. */
  mayBeEmpty: boolean;
}

/** A valid request to each operation. */
async function requestsTo(app: FastifyInstance): Promise<RightRequest[]> {
  const { paths, components } = await fetchDocument(app);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, security }]) => {
      const { example, schema } = requestBody?.content["application/json"] ?? {};
      const { required, oneOf } = components.schemas[schema?.$ref?.split("/").at(-1) ?? ""] ?? {};
      return {
        operation: `${method.toUpperCase()} ${path}`,
        isPublic: security?.length === 0,
        url: path.replaceAll(/\{\w+\}/g, scriptedId),
        headers: key,
        mayBeEmpty: required === undefined && oneOf === undefined,
        ...(typeof example === "object" && example !== null
          ? { payload: "model" in example ? { ...example, model: scriptedId } : example }
          : {}),
      };
    }),
  );
}

/** Sends a changed request, and expects a documented response. */
async function send(
  app: FastifyInstance,
  { operation, url, headers, payload }: RightRequest,
  change: InjectOptions = {},
): Promise<number> {
  const [method] = operation.split(" ");
  if (method !== "GET" && method !== "POST" && method !== "PUT" && method !== "DELETE")
    throw new Error(operation);
  const body = payload === undefined ? {} : { payload };
  const response = await app.inject({ method, url, headers, ...body, ...change });
  await expectDocumented(app, operation, response);
  return response.statusCode;
}

async function sendAll(app: FastifyInstance, requests: readonly RightRequest[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const request of requests) statuses.push(await send(app, request));
  return statuses;
}

interface Wrong {
  what: string;
  status: number;
  change: InjectOptions;
  /** Only applies to bodies. */
  isBody?: boolean;
  /** Only applies if a field is required. */
  needsFields?: boolean;
  flags?: ServerFlags;
}

/** Every body has one of these fields. */
const wrong = { model: 5, wait: 5, kv_bits: 5, host: 5, name: 5, id: 5, key: 5, items: 5, metadata: 5 };

const wrongs: Wrong[] = [
  { what: "a Host that is not allowed", status: 403, change: { headers: { ...json, host: "evil.example" } } },
  {
    what: "an Origin that is not allowed",
    status: 403,
    change: { headers: { ...json, origin: "https://evil.example" } },
  },
  { what: "no key", status: 401, change: { headers: { "content-type": "application/json" } } },
  { what: "a broken body", status: 400, change: { headers: json, payload: "{" }, isBody: true },
  { what: "an empty body", status: 400, change: { headers: json, payload: "" }, isBody: true },
  { what: "an empty object", status: 400, change: { payload: {} }, isBody: true, needsFields: true },
  { what: "a wrong field", status: 400, change: { payload: wrong }, isBody: true },
  {
    what: "a body that is no JSON",
    status: 415,
    change: { headers: { ...key, "content-type": "text/plain" }, payload: "x" },
    isBody: true,
  },
  {
    what: "a body that is too large",
    status: 413,
    change: { headers: json, payload: `"${"x".repeat(4_000)}"` },
    flags: { bodyBytesMax: 2_000 },
    isBody: true,
  },
];

describe("every route", () => {
  it.each(wrongs)(
    "answers $what with a documented $status",
    async ({ status, change, isBody, needsFields, flags }) => {
      await using scripted = await scriptedApp({ flags: { adminKey: ["k"], ...flags } });
      const requests = (await requestsTo(scripted.app)).filter(
        ({ payload, isPublic, mayBeEmpty }) =>
          !(isBody === true && payload === undefined) &&
          !(isPublic && status === 401) &&
          !(needsFields === true && mayBeEmpty),
      );
      expect(requests).not.toEqual([]);
      for (const request of requests)
        expect([request.operation, await send(scripted.app, request, change)]).toEqual([
          request.operation,
          status,
        ]);
    },
  );

  it("answers too many requests with a documented 429", async () => {
    await using scripted = await scriptedApp({ flags: { rateLimit: 1, adminKey: ["k"] } });
    for (const request of await requestsTo(scripted.app)) {
      await send(scripted.app, request);
      expect([request.operation, await send(scripted.app, request)]).toEqual([
        request.operation,
        request.isPublic ? expect.any(Number) : 429,
      ]);
    }
  });

  it("answers an unknown model, and requests while the server stops, as documented", async () => {
    await using scripted = await scriptedApp();
    // The response to a valid request for events ends with the server.
    const requests = (await requestsTo(scripted.app)).filter(({ url }) => url !== "/api/v1/events");
    const forOtherModel = requests.map((request) => ({
      ...request,
      url: request.url.replace(scriptedId, "nobody"),
      ...(request.payload && { payload: { ...request.payload, model: "nobody" } }),
    }));
    expect(await sendAll(scripted.app, forOtherModel)).toContain(404);
    await scripted.registry[Symbol.asyncDispose]();
    expect(await sendAll(scripted.app, requests)).toContain(503);
  });
});

describe("a generation that fails", () => {
  const tooLong = {
    code: "context_length_exceeded",
    message: "Too long.",
    details: { promptTokens: 9, contextLength: 5 },
  } as const;

  it.each<[status: number, Script]>([
    [500, { pieces: [], failure: { code: "engine_failed", message: "It did not work." } }],
    [503, { pieces: [], failure: { code: "out_of_memory", message: "It did not fit." } }],
    [400, { refusal: tooLong }],
    [429, { refusal: { code: "overloaded", message: "Full." } }],
  ])("before its first token is a documented %i, streamed or not", async (status, script) => {
    await using scripted = await scriptedApp({ script });
    const requests = (await requestsTo(scripted.app)).filter(({ payload }) => payload !== undefined);
    expect(await sendAll(scripted.app, requests)).toContain(status);
    const streamed = requests.map((request) => ({
      ...request,
      payload: { ...request.payload, stream: true },
    }));
    expect(await sendAll(scripted.app, streamed)).toContain(status);
  });

  it("after its first token is a documented event", async () => {
    const failure = { code: "engine_failed", message: "It did not work." } as const;
    await using scripted = await scriptedApp({ script: { pieces: ["a"], failure } });
    const payload = { model: scriptedId, messages: [{ role: "user", content: "Hi" }], stream: true };
    const response = await scripted.app.inject({ method: "POST", url: "/v1/chat/completions", payload });
    const events = await expectDocumented(scripted.app, "POST /v1/chat/completions", response);
    expect(events.at(-1)).toMatchObject({ error: { code: "engine_failed" } });
  });
});

describe("expectDocumented", () => {
  const operation = "GET /v1/models";

  it.each([
    ["a status that the document does not have", { statusCode: 418, body: "{}" }],
    ["another media type", { statusCode: 200, body: "{}", headers: { "content-type": "text/plain" } }],
    ["a field that is missing", { statusCode: 200, body: '{"object":"list"}' }],
    ["an unknown field", { statusCode: 200, body: '{"object":"list","data":[],"more":1}' }],
    ["a code that the route does not give", { statusCode: 403, body: errorJson("rate_limited") }],
  ])("refuses %s", async (_, response) => {
    await using scripted = await scriptedApp();
    const headers = { "content-type": "application/json" };
    await expect(expectDocumented(scripted.app, operation, { headers, ...response })).rejects.toThrow();
  });

  function errorJson(code: string): string {
    return JSON.stringify({ error: { message: "m", type: "t", param: null, code } });
  }
});
