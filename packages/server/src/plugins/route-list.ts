// app.routeList: every registered route, as the API's description needs it. Paths without a route are a 404, other methods of a
// known path a 405 that names the right ones.
import type { FastifyInstance, RouteOptions } from "fastify";
import fp from "fastify-plugin";
import { z } from "zod";
import type { ListedRoute, Operation } from "../openapi/operation.ts";
import { WireError } from "../wire-error.ts";

/** In the order of registration. */
export type RouteList = readonly ListedRoute[];

declare module "fastify" {
  interface FastifyContextConfig {
    operation?: Operation;
    /** Whether it serves a file of the web page, which is not part of the API. */
    isOfPage?: boolean;
  }
  interface FastifyInstance {
    readonly routeList: RouteList;
  }
}

/** Maximum length of a path that an error message quotes. */
const pathShownMax = 200;

export const routeList = fp(
  async (app: FastifyInstance) => {
    const listed: ListedRoute[] = [];
    const all: { pattern: RegExp; method: string }[] = [];
    app.decorate("routeList", listed);

    app.addHook("onRoute", (route) => {
      for (const method of [route.method].flat()) {
        all.push({ pattern: toPattern(route.url), method });
        // Every GET has a HEAD, which the description omits.
        if (method !== "HEAD" && route.config?.isOfPage !== true)
          listed.push({ method, ...toListedRoute(route) });
      }
    });

    app.setNotFoundHandler((request, reply) => {
      const [path = ""] = request.url.split("?", 1);
      const methods = all.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
      const shown = path.slice(0, pathShownMax);
      if (methods.length === 0) throw new WireError("not_found", `Unknown route: ${shown}.`);
      const allowed = [...new Set(methods)].join(", ");
      reply.header("allow", allowed);
      throw new WireError("method_not_allowed", `${shown} allows ${allowed}, not ${request.method}.`);
    });
  },
  { name: "route-list" },
);

function toListedRoute({ url, schema, config }: RouteOptions): Omit<ListedRoute, "method"> {
  const { body, querystring: query } = schema ?? {};
  return {
    path: url,
    body: body instanceof z.ZodType ? body : undefined,
    query: query instanceof z.ZodType ? query : undefined,
    right: config?.right ?? "inference",
    operation: config?.operation,
  };
}

/** Routes have only plain characters, parts such as `:id`, and a `*` at the end. */
function toPattern(url: string): RegExp {
  return new RegExp(`^${url.replaceAll(".", "\\.").replaceAll(/:\w+/g, "[^/]+").replace("*", ".+")}$`);
}
