// What probes and collectors poll. /livez: the process runs. /readyz, also /health: the server accepts requests, and is not
// stopping. /metrics: Prometheus' text format; it needs a key where keys are configured, unless it is public.
import { Liveness, Readiness, wireErrors } from "@ingle/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { loadRetryAfterSeconds } from "../../models/model-errors.ts";
import type { ServerReadiness } from "../../models/readiness.ts";
import type { ModelRegistry } from "../../models/registry.ts";
import { addRoute, type Route } from "../../http/add-route.ts";
import { WireError } from "../../wire-error.ts";

const live = {
  path: "GET /livez",
  right: "none",
  summary: "Check that the process runs",
  responses: { 200: Liveness },
} satisfies Route;
const readiness = {
  path: "GET /readyz",
  right: "none",
  summary: "Check that the server accepts requests",
  responses: { 200: Readiness, [wireErrors.model_loading.status]: Readiness },
} satisfies Route;
const metrics = {
  path: "GET /metrics",
  right: "inference",
  summary: "Get counters and histograms in the text format of Prometheus",
  responses: { 200: "text/plain" },
} satisfies Route;

interface MonitoringOptions {
  registry: ModelRegistry;
  hasPublicMetrics: boolean;
}

export function addMonitoring(app: FastifyInstance, { registry, hasPublicMetrics }: MonitoringOptions): void {
  const ready = async ({ right, mayUse }: FastifyRequest, reply: FastifyReply): Promise<Readiness> => {
    const { isReady, ...found } = serverReadiness(app, registry);
    if (!isReady) {
      reply.code(wireErrors.model_loading.status);
      reply.header("retry-after", loadRetryAfterSeconds(found.progress ?? 0));
    }
    const isOwn = found.model === undefined || mayUse({ names: [found.model] });
    if (right !== "none" && isOwn) return found;
    const { model: _forKeysOnly, ...rest } = found;
    return rest;
  };

  // Probes carry no key; one that does gets the model's name.
  addRoute(app, live, async (): Promise<Liveness> => ({ status: "ok" }));
  addRoute(app, readiness, ready);
  addRoute(app, { ...metrics, ...(hasPublicMetrics ? { right: "none" } : {}) }, async (request, reply) => {
    if (!hasPublicMetrics && !request.seesAll) throw countsOthers();
    return reply.header("content-type", app.metrics.contentType).send(await app.metrics.text());
  });
}

function countsOthers(): WireError {
  return new WireError(
    "forbidden",
    "These metrics count the requests of all keys, so they need a management key (--admin-key). --metrics-public serves them to everybody.",
  );
}

/** The readiness of the models, or `shutting_down` while the server closes. */
export function serverReadiness(
  { drainSignal }: Pick<FastifyInstance, "drainSignal">,
  registry: ModelRegistry,
): ServerReadiness {
  return drainSignal.aborted ? { status: "shutting_down", isReady: false } : registry.readiness();
}
