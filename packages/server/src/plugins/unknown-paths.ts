// What nobody answers: 404 for a path that does not exist, 405 with the right methods for one that does.
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { WireError } from "../wire-error.ts";

/** Longest part of a path that an error message repeats. */
const pathShownMax = 200;

export const unknownPaths = fp(
  async (app: FastifyInstance) => {
    const routes: { path: RegExp; method: string }[] = [];

    app.addHook("onRoute", ({ url, method }) => {
      for (const each of [method].flat()) routes.push({ path: toPattern(url), method: each });
    });

    app.setNotFoundHandler((request, reply) => {
      const [path = ""] = request.url.split("?", 1);
      const methods = routes.filter((route) => route.path.test(path)).map((route) => route.method);
      const shown = path.slice(0, pathShownMax);
      if (methods.length === 0) throw new WireError("not_found", `There is no ${shown} here.`);
      const allowed = [...new Set(methods)].join(", ");
      reply.header("allow", allowed);
      throw new WireError("method_not_allowed", `${shown} takes ${allowed}, not ${request.method}.`);
    });
  },
  { name: "unknown-paths" },
);

/** Our own routes hold nothing but plain letters and a `*` at the end. */
function toPattern(url: string): RegExp {
  return new RegExp(`^${url.replaceAll(".", "\\.").replace("*", ".+")}$`);
}
