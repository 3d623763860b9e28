// Counts every request at its end, and gives other code the metrics as `app.metrics`.
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { Metrics } from "../metrics/metrics.ts";
import { statusOf } from "./request-log.ts";

declare module "fastify" {
  interface FastifyInstance {
    readonly metrics: Metrics;
  }
}

export const metrics = fp(
  async (app: FastifyInstance, options: { metrics: Metrics }) => {
    app.decorate("metrics", options.metrics);
    app.addHook("onRequest", async (request, reply) => {
      request.atEnd(() => {
        options.metrics.requests.ended({
          method: request.method,
          route: request.routeOptions.url ?? "unknown",
          status: statusOf(request, reply),
          seconds: (performance.now() - request.outcome.startedAt) / 1000,
        });
      });
    });
    app.addHook("onClose", async () => options.metrics[Symbol.dispose]());
  },
  { name: "metrics", dependencies: ["request-log"] },
);
