// Probes. /livez: the process runs. /readyz and /health: the server accepts requests, and is not stopping.
import { Liveness, Readiness, wireErrors } from "@ingle/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { loadRetryAfterSeconds } from "../models/model-errors.ts";
import type { ServerReadiness } from "../models/readiness.ts";
import type { ModelRegistry } from "../models/registry.ts";
import type { Operation } from "../openapi/operation.ts";

const live: Operation = { summary: "Check that the process runs", answers: { 200: Liveness } };
const readiness: Operation = {
  summary: "Check that the server accepts requests",
  answers: { 200: Readiness, [wireErrors.model_loading.status]: Readiness },
};

export async function healthRoutes(
  app: FastifyInstance,
  options: { registry: ModelRegistry },
): Promise<void> {
  const ready = async ({ right }: FastifyRequest, reply: FastifyReply): Promise<Readiness> => {
    const { isReady, ...found } = serverReadiness(app, options.registry);
    if (!isReady) {
      reply.code(wireErrors.model_loading.status);
      reply.header("retry-after", loadRetryAfterSeconds(found.progress ?? 0));
    }
    if (right !== "none") return found;
    const { model: _forKeysOnly, ...rest } = found;
    return rest;
  };

  // Probes carry no key; one that does gets the model's name.
  app.get("/livez", { config: { right: "none", operation: live } }, async (): Promise<Liveness> => ({
    status: "ok",
  }));
  app.get("/readyz", { config: { right: "none", operation: readiness } }, ready);
  app.get("/health", { config: { right: "none", operation: readiness } }, ready);
}

/** The readiness of the models, or `shutting_down` while the server closes. */
export function serverReadiness(
  { drainSignal }: Pick<FastifyInstance, "drainSignal">,
  registry: ModelRegistry,
): ServerReadiness {
  return drainSignal.aborted ? { status: "shutting_down", isReady: false } : registry.readiness();
}
