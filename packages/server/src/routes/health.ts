// Probes. /livez: the process runs. /readyz and /health: requests are answered, and the server is not stopping.
import { Liveness, Readiness, wireErrors } from "@ingle/protocol";
import type { FastifyInstance, FastifyReply } from "fastify";
import { secondsLeft } from "../models/refusals.ts";
import type { ModelRegistry } from "../models/registry.ts";
import type { Operation } from "../openapi/operation.ts";

const live: Operation = { summary: "Whether the process runs", answers: { 200: Liveness } };
const readiness: Operation = {
  summary: "Whether requests are taken",
  answers: { 200: Readiness, [wireErrors.model_loading.status]: Readiness },
};

export async function healthRoutes(
  app: FastifyInstance,
  options: { registry: ModelRegistry },
): Promise<void> {
  const ready = async (_request: unknown, reply: FastifyReply): Promise<Readiness> => {
    const { isReady, ...found } = options.registry.readiness();
    if (!isReady) {
      reply.code(wireErrors.model_loading.status);
      reply.header("retry-after", secondsLeft(found.progress ?? 0));
    }
    return found;
  };

  // Probes carry no key.
  app.get("/livez", { config: { isPublic: true, operation: live } }, async (): Promise<Liveness> => ({
    status: "ok",
  }));
  app.get("/readyz", { config: { isPublic: true, operation: readiness } }, ready);
  app.get("/health", { config: { isPublic: true, operation: readiness } }, ready);
}
