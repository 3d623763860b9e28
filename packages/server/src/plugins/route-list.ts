// app.routeList: every route that is registered, with what it says of itself. Read by routes/api-description.ts.
import type { FastifyInstance, RouteOptions } from "fastify";
import fp from "fastify-plugin";
import { z } from "zod";
import type { ListedRoute, Operation } from "../openapi/operation.ts";

/** In the order in which they are registered. */
export type RouteList = readonly ListedRoute[];

declare module "fastify" {
  interface FastifyContextConfig {
    operation?: Operation;
    /** A file of the page for people: no part of the API. */
    isOfPage?: boolean;
  }
  interface FastifyInstance {
    readonly routeList: RouteList;
  }
}

export const routeList = fp(
  async (app: FastifyInstance) => {
    const routes: ListedRoute[] = [];
    app.decorate("routeList", routes);
    app.addHook("onRoute", (route) => {
      if (route.config?.isOfPage === true) return;
      for (const method of [route.method].flat()) {
        // Every GET answers HEAD as well, which nobody has to be told.
        if (method !== "HEAD") routes.push({ method, ...listed(route) });
      }
    });
  },
  { name: "route-list" },
);

function listed({ url, schema, config }: RouteOptions): Omit<ListedRoute, "method"> {
  const { body, querystring: query } = schema ?? {};
  return {
    path: url,
    body: body instanceof z.ZodType ? body : undefined,
    query: query instanceof z.ZodType ? query : undefined,
    right: config?.right ?? "inference",
    operation: config?.operation,
  };
}
