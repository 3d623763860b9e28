// Probes. /livez: the process runs. /readyz and /health: requests are answered, and the server is not stopping.
import { wireErrors } from "@ingle/protocol";
import type { FastifyInstance, FastifyReply } from "fastify";
import { secondsLeft } from "../models/refusals.ts";
import type { ModelRegistry, RegistryState } from "../models/registry.ts";

/** What a readiness probe answers. */
export interface Readiness {
  status: "ok" | "idle" | "empty" | "loading" | "failed" | "shutting_down";
  model?: string;
  /** 0 … 1 while the model loads. */
  progress?: number;
}

/** Probes carry no key. */
const config = { isPublic: true };

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

  app.get("/livez", { config }, async () => ({ status: "ok" }));
  app.get("/readyz", { config }, ready);
  app.get("/health", { config }, ready);
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
