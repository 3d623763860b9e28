// Lists the fields that a request sets and the response ignores, in a response header and in the log line. Fields that the route's
// schema does not have are added when the body is read, and those that it marks as ignored before the handler runs; the handler
// adds its own with `request.ignore()`.
import { ignoredFieldsOf } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";

declare module "fastify" {
  interface FastifyRequest {
    /** Adds names of ignored fields. Call it before the response is sent. */
    readonly ignore: (names: readonly string[]) => void;
  }
}

export const ignoredHeader = "x-ingle-ignored";

/** Maximum number of names in the header, far below the size limits of headers. */
const namesMax = 16;

/** Names that are safe in a header and in a log: clients choose some of them. */
const plainName = /^[\w.[\]() -]{1,80}$/;

export const ignored = fp(
  async (app: FastifyInstance) => {
    app.decorateRequest("ignore");

    app.addHook("onRequest", async (request) => {
      const { outcome } = request;
      request.setDecorator("ignore", (names: readonly string[]) => {
        const all = new Set([...(outcome.ignored ?? []), ...names.filter((name) => plainName.test(name))]);
        if (all.size > 0) outcome.ignored = [...all].slice(0, namesMax);
      });
    });

    app.addHook("preHandler", async (request) => {
      request.ignore(ignoredFieldsOf(request.routeOptions.schema?.body, request.body));
    });

    app.addHook("onSend", async (request, reply) => {
      const { ignored: names } = request.outcome;
      if (names !== undefined) reply.header(ignoredHeader, names.join(", "));
    });
  },
  { name: "ignored", dependencies: ["request-log"] },
);
