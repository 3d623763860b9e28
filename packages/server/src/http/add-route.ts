// Defines a route in one object: its path, the right that it needs, its input, and its description in /openapi.json and /docs.
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import type { Operation } from "../openapi/operation.ts";

export interface Route extends Operation, Omit<FastifyContextConfig, "operation" | "url" | "method"> {
  readonly path: `${"GET" | "POST" | "PUT" | "DELETE"} ${string}`;
  /** Checked by plugins/bodies.ts before the handler runs. */
  readonly body?: z.ZodType;
  /** The schema of the query string. Checked by app.ts before the handler runs. */
  readonly query?: z.ZodType;
}

type Parsed<R extends Route, Part extends "body" | "query"> =
  R extends Readonly<Record<Part, z.ZodType<infer Value>>> ? Value : unknown;

/** The values of `*` (everything at the end), `:id` and the like in a request's path. */
type ParamsOf<Path extends string> = Record<ParamNames<Path>, string>;
type ParamNames<Path extends string> = Path extends `${infer Start}/${infer Rest}`
  ? ParamNames<Start> | ParamNames<Rest>
  : Path extends `:${infer Name}`
    ? Name
    : Path extends "*"
      ? "*"
      : never;

interface RouteTypes<R extends Route> {
  Body: Parsed<R, "body">;
  Querystring: Parsed<R, "query">;
  Params: ParamsOf<R["path"]>;
}

export function addRoute<R extends Route>(
  app: FastifyInstance,
  route: R,
  handler: (request: FastifyRequest<RouteTypes<R>>, reply: FastifyReply) => Promise<unknown>,
): void {
  const { path, body, query, right, fieldNames, errorShape, requestIdHeader, isTracked, ...operation } =
    route;
  const [method = "GET", url = "/"] = path.split(" ");
  app.route<RouteTypes<R>>({
    method,
    url,
    schema: {
      ...(body === undefined ? {} : { body }),
      ...(query === undefined ? {} : { querystring: query }),
    },
    config: { right, fieldNames, errorShape, requestIdHeader, isTracked, operation },
    handler: async (request, reply) => {
      if (lacksName(request.params)) return reply.callNotFound();
      return await handler(request, reply);
    },
  });
}

/** Whether the path ends before the name that `*` stands for. */
function lacksName(params: unknown): boolean {
  return typeof params === "object" && params !== null && Reflect.get(params, "*") === "";
}
