// What a request asks for and its reply does not follow is never dropped in silence: it is named in a header of the answer
// and in the request's log line. Fields are found by their schemas, before the handler runs; what a handler leaves out
// itself, it hands to `request.ignore()`.
import { ignoredFieldsOf } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";

declare module "fastify" {
  interface FastifyRequest {
    /** Notes what this reply does not follow: names of fields, before the reply is sent. */
    readonly ignore: (names: readonly string[]) => void;
  }
}

export const ignoredHeader = "x-ingle-ignored";

/** Names in the header: enough for any client, and far from the limits of headers. */
const namesMax = 16;

/** What may stand in a header and in a log as it is; a client may have named its things in any way. */
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
