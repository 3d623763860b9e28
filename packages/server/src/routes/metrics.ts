// GET /metrics in the text format of Prometheus. Needs a key where keys are configured, unless it is public.
import type { FastifyInstance } from "fastify";
import type { Operation } from "../openapi/operation.ts";

const operation: Operation = {
  summary: "Get counters and histograms in the text format of Prometheus",
  answers: { 200: "text/plain" },
};

export async function metricsRoutes(app: FastifyInstance, options: { isPublic: boolean }): Promise<void> {
  const right = options.isPublic ? "none" : "inference";
  app.get("/metrics", { config: { right, operation } }, async (_request, reply) => {
    const { metrics } = app;
    return reply.header("content-type", metrics.contentType).send(await metrics.text());
  });
}
