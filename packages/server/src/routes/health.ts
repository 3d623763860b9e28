// Probes. /livez: the process runs. /readyz and /health: a model is loaded, and the server is not stopping.
import { wireErrors } from "@ingle/protocol";
import type { FastifyInstance, FastifyReply } from "fastify";
import { secondsLeft, type ModelRegistry, type RegistryState } from "../models/registry.ts";

/** What a readiness probe answers. */
export interface Readiness {
  status: "ok" | "empty" | "loading" | "failed" | "shutting_down";
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
    const { state } = options.registry;
    if (state.kind !== "loaded") reply.code(wireErrors.model_loading.status);
    if (state.kind === "loading") reply.header("retry-after", secondsLeft(state.progress));
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
    case "failed":
      return { status: "failed", model: state.id };
    case "closed":
      return { status: "shutting_down" };
    case "empty":
      return { status: "empty" };
  }
}
