// Probes. /livez: the process runs. /readyz and /health: requests are answered, and the server is not stopping.
import { Liveness, Readiness, wireErrors } from "@ingle/protocol";
import type { FastifyInstance, FastifyReply } from "fastify";
import { secondsLeft } from "../models/refusals.ts";
import type { ModelRegistry, RegistryState } from "../models/registry.ts";
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
    const { state, isReady } = options.registry;
    if (!isReady) {
      reply.code(wireErrors.model_loading.status);
      reply.header("retry-after", secondsLeft(state.kind === "loading" ? state.progress : 0));
    }
    return toReadiness(state);
  };

  // Probes carry no key.
  app.get("/livez", { config: { isPublic: true, operation: live } }, async (): Promise<Liveness> => ({
    status: "ok",
  }));
  app.get("/readyz", { config: { isPublic: true, operation: readiness } }, ready);
  app.get("/health", { config: { isPublic: true, operation: readiness } }, ready);
}

function toReadiness(state: RegistryState): Readiness {
  switch (state.kind) {
    case "loaded":
      return { status: "ok", model: state.id };
    case "loading":
      return { status: "loading", model: state.id, progress: state.progress };
    case "unloading":
    case "unloaded":
      return { status: "idle", model: state.id };
    case "failed":
      return { status: "failed", model: state.id };
    case "closed":
      return { status: "shutting_down" };
    case "empty":
      return { status: "empty" };
  }
}
