// GET /metrics: for Prometheus and what speaks its text form. Needs a key where keys are configured.
import type { FastifyInstance } from "fastify";

export async function metricsRoutes(app: FastifyInstance): Promise<void> {
  app.get("/metrics", async (_request, reply) => {
    const { metrics } = app;
    return reply.header("content-type", metrics.contentType).send(await metrics.text());
  });
}
