// Describes the server's API in OpenAPI 3.1, from the registered routes and their schemas.
import { STATUS_CODES } from "node:http";
import { ErrorBody, wireErrors, type WireErrorCode } from "@ingle/protocol";
import { ingleVersion } from "../this-package.ts";
import type { ListedRoute, Operation } from "./operation.ts";
import { schemaComponents, type JsonSchema, type SchemaComponents } from "./schema-components.ts";

/** Server settings that affect the description. */
export interface DocumentOptions {
  /** Whether requests need one of the configured keys. */
  hasKeys: boolean;
  /** Whether the server limits requests per minute. */
  isRateLimited: boolean;
}

/** The parts of OpenAPI that are used here. */
export interface OpenApiDocument {
  openapi: string;
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  security?: Record<string, string[]>[];
  /** By path and by method in lower case. */
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes?: Record<string, object> };
}

export interface OperationObject {
  operationId: string;
  summary: string;
  description?: string;
  /** Empty: no key is needed, whatever the document's default. */
  security?: Record<string, string[]>[];
  parameters?: ParameterObject[];
  requestBody?: { required: true; content: Record<string, MediaTypeObject> };
  /** By status. */
  responses: Record<string, ResponseObject>;
}

interface ParameterObject {
  name: string;
  in: "path" | "query";
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, object>;
  /** By media type. */
  content: Record<string, MediaTypeObject>;
}

interface MediaTypeObject {
  schema: JsonSchema;
  example?: unknown;
}

/** The placeholder in examples for an id that `GET /v1/models` lists. */
export const modelPlaceholder = "<id>";

const info = {
  title: "Ingle",
  description:
    "Language models on your own machine. In a request, null means that a field is absent. Unknown fields are " +
    "ignored, and the header x-ingle-ignored names them. Every response has an x-request-id, which is the request's own if it sent one.",
  license: { name: "MIT", identifier: "MIT" },
};

/** Errors that any route may return: an invalid path or Host, a Host or Origin that is not allowed, or a bug. */
const errorsOfAll = ["invalid_request", "forbidden", "internal"] as const satisfies readonly WireErrorCode[];

const errorsOfBodies = [
  "invalid_json",
  "payload_too_large",
  "unsupported_media_type",
  "overloaded",
  "shutting_down",
] as const satisfies readonly WireErrorCode[];

/** Throws if a schema cannot be described, which is a bug. */
export function openApiDocument(
  routes: readonly ListedRoute[],
  { hasKeys, isRateLimited }: DocumentOptions,
): OpenApiDocument {
  const components = schemaComponents();
  const paths: OpenApiDocument["paths"] = {};
  for (const route of routes.toSorted(byImportance)) {
    const path = route.path.replace("*", "{id}").replaceAll(/:(\w+)/g, "{$1}");
    const errors = listErrors(route, { hasKeys, isRateLimited });
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: {
        ...toOperationObject(route, path, { components, errors }),
        ...(hasKeys && route.right === "none" ? { security: [] } : {}),
      },
    };
  }
  return {
    openapi: "3.1.0",
    info: { ...info, version: ingleVersion() },
    servers: [{ url: "/" }],
    ...(hasKeys ? { security: [{ bearer: [] }] } : {}),
    paths,
    components: {
      schemas: components.schemas,
      ...(hasKeys ? { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } } : {}),
    },
  };
}

/** Sorts the /v1 routes before all others. */
function byImportance(one: ListedRoute, other: ListedRoute): number {
  return Number(other.path.startsWith("/v1/")) - Number(one.path.startsWith("/v1/"));
}

interface Parts {
  components: SchemaComponents;
  errors: readonly WireErrorCode[];
}

const managementNote = "Requires the right to manage models: a management key, or a program on this machine.";

function toOperationObject(route: ListedRoute, path: string, { components, errors }: Parts): OperationObject {
  const { method, body, operation, right } = route;
  const parameters = listParameters(route, path, components);
  const sentences = [operation?.description ?? [], right === "management" ? managementNote : []].flat();
  return {
    operationId: operationId(method, path),
    summary: operation?.summary ?? `${method} ${path}`,
    ...(sentences.length === 0 ? {} : { description: sentences.join(" ") }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              [operation?.bodyType ?? "application/json"]: {
                schema: components.write(body),
                ...example(operation),
              },
            },
          },
        }),
    responses: {
      ...errorResponses(operation, { components, errors }),
      ...goodResponses(operation, components),
    },
  };
}

/** `POST /v1/chat/completions` is `postV1ChatCompletions`. */
function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function listParameters(
  { query, operation }: ListedRoute,
  path: string,
  { write }: SchemaComponents,
): ParameterObject[] {
  const { properties = {}, required = [] } = query === undefined ? {} : write(query);
  const asked = Object.entries(properties).flatMap(([name, schema]): ParameterObject[] =>
    typeof schema === "boolean" ? [] : [{ name, in: "query", required: required.includes(name), schema }],
  );
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]): ParameterObject => {
    const description = name === "id" ? operation?.id : undefined;
    return {
      name,
      in: "path",
      required: true,
      description: description ?? "An id.",
      schema: { type: "string" },
    };
  });
  return [...inPath, ...asked];
}

function example(operation: Operation | undefined): { example?: unknown } {
  const body = operation?.example;
  if (body === undefined) return {};
  return { example: operation?.namesNoModel === true ? body : { model: modelPlaceholder, ...body } };
}

function goodResponses(
  operation: Operation | undefined,
  { write }: SchemaComponents,
): Record<string, ResponseObject> {
  const responses = Object.entries(operation?.responses ?? {}).map(([status, body]) => {
    const isText = typeof body === "string";
    const type = isText ? body : "application/json";
    const schema: JsonSchema = isText ? { type: "string" } : write(body);
    const response: ResponseObject = {
      description: `${STATUS_CODES[status]}.`,
      content: { [type]: { schema } },
    };
    return [status, response] as const;
  });
  const [first] = responses;
  if (operation?.event !== undefined && first !== undefined) {
    const events = [operation.event, operation.errorBody ?? ErrorBody].map((each) => write(each));
    const [, { content }] = first;
    content["text/event-stream"] = { schema: { description: "The data of one event.", anyOf: events } };
  }
  return Object.fromEntries(responses);
}

function listErrors(
  { right, body, operation }: ListedRoute,
  { hasKeys, isRateLimited }: DocumentOptions,
): WireErrorCode[] {
  const codes: WireErrorCode[] = [...errorsOfAll];
  const isOpen = right === "none";
  if (hasKeys && !isOpen) codes.push("unauthorized");
  // Too many wrong keys are refused even without a limit on requests.
  if ((hasKeys || isRateLimited) && !isOpen) codes.push("rate_limited");
  if (body !== undefined) codes.push(...errorsOfBodies);
  return [...new Set([...codes, ...(operation?.errors ?? [])])];
}

/** One response for each status, listing its codes. */
function errorResponses(
  operation: Operation | undefined,
  { components: { write }, errors }: Parts,
): Record<string, ResponseObject> {
  const body = write(operation?.errorBody ?? ErrorBody);
  const responses = [...new Set(errors.map(wireStatus))].map((status) => {
    const codes = errors.filter((code) => wireStatus(code) === status);
    const response: ResponseObject = {
      description: `${STATUS_CODES[status]}: ${codes.join(", ")}.`,
      ...(isRetryable(status) ? { headers: retryAfter } : {}),
      content: { "application/json": { schema: withCodes(body, codes) } },
    };
    return [status, response] as const;
  });
  return Object.fromEntries(responses);
}

function wireStatus(code: WireErrorCode): number {
  return wireErrors[code].status;
}

/** Adds the codes to a named error body; in a union, to each one. An unnamed body stays as it is. */
function withCodes(body: JsonSchema, codes: WireErrorCode[]): JsonSchema {
  if (body.anyOf !== undefined) return { ...body, anyOf: body.anyOf.map((each) => withCodes(each, codes)) };
  if (body.$ref === undefined) return body;
  return { ...body, properties: { error: { properties: { code: { enum: codes } } } } };
}

const retryAfter = {
  "retry-after": { description: "Seconds to wait before retrying.", schema: { type: "integer" } },
};

function isRetryable(status: number): boolean {
  return status === wireErrors.overloaded.status || status === wireErrors.shutting_down.status;
}
