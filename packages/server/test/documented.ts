// Checks a response against the server's own /openapi.json, for the tests of any route.
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import type { FastifyInstance } from "fastify";
import { expect } from "vitest";
import type { OpenApiDocument } from "../src/openapi/document.ts";

/** From `app.inject()` or `fetch()`. */
export type ServerResponse = Injected | Response;

interface Injected {
  statusCode: number;
  headers: Readonly<Record<string, unknown>>;
  body: string;
}

/**
 * Fails unless the response's status, media type and body, or each event of its stream, match the server's document for
 * the operation, which is named like `POST /v1/chat/completions`. Undocumented fields fail, too.
 * `server` is the app, or the address up to its port. Resolves to the JSON of the body, or of each event.
 */
export async function expectDocumented(
  server: FastifyInstance | string,
  operation: string,
  response: ServerResponse,
): Promise<unknown[]> {
  const document = await fetchDocument(server);
  const { status, type, text } = await readResponse(response);
  const [method = "", path = ""] = operation.split(" ");
  const documented = document.paths[path]?.[method.toLowerCase()]?.responses[status];
  expect(documented, `${operation} may answer ${status}: ${text.slice(0, 200)}`).toBeDefined();
  const media = documented?.content[type];
  expect(media, `${operation} may answer ${status} with ${type}`).toBeDefined();
  const values =
    type === "text/event-stream" ? parseEvents(text) : [type.endsWith("json") ? JSON.parse(text) : text];
  expect(values, `the events of ${operation}`).not.toEqual([]);
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const isDocumented = ajv.compile(closed({ ...media?.schema, components: document.components }));
  for (const value of values) {
    const what = `${operation} ${status} ${JSON.stringify(value).slice(0, 400)}`;
    expect(isDocumented(value) ? [] : (isDocumented.errors ?? []).map(toProblem), what).toEqual([]);
  }
  return values;
}

export async function fetchDocument(server: FastifyInstance | string): Promise<OpenApiDocument> {
  const path = "/openapi.json";
  const json =
    typeof server === "string" ? await (await fetch(server + path)).text() : (await server.inject(path)).body;
  return JSON.parse(json);
}

async function readResponse(
  response: ServerResponse,
): Promise<{ status: number; type: string; text: string }> {
  const [status, type, text] =
    "statusCode" in response
      ? [response.statusCode, String(response.headers["content-type"]), response.body]
      : [response.status, response.headers.get("content-type") ?? "", await response.text()];
  return { status, type: type.split(";")[0] ?? "", text };
}

/** The JSON of every event, without comments and the end mark. */
function parseEvents(stream: string): unknown[] {
  return stream
    .split("\n")
    .filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
    .map((line): unknown => JSON.parse(line.slice("data: ".length)));
}

function toProblem({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath} ${message} ${JSON.stringify(params)}`;
}

/** The same schemas, but strict: the document allows additional fields, but this server must not send any. */
function closed<Part>(part: Part): Part {
  const isObjectSchema = (value: object): boolean =>
    "type" in value && value.type === "object" && "properties" in value && !("additionalProperties" in value);
  return JSON.parse(JSON.stringify(part), (_key, value: unknown) =>
    typeof value === "object" && value !== null && isObjectSchema(value)
      ? { ...value, additionalProperties: false }
      : value,
  );
}
