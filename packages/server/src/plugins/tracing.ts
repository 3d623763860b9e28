// Records one trace per request: the HTTP request, and within it the generation by OpenTelemetry's GenAI conventions. Only
// numbers and names, never a prompt or a reply.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { RequestOutcome } from "../http/request-outcome.ts";
import { SpanExporter } from "../tracing/exporter.ts";
import type { TracingSettings } from "../tracing/settings.ts";
import { newSpanId, traceContext, type Attributes, type Span } from "../tracing/spans.ts";
import { loggedStatus } from "./request-log.ts";

/** Maximum number of characters of a path in a span. */
const pathShownMax = 200;

export const tracing = fp(
  async (app: FastifyInstance, { settings }: { settings: TracingSettings }) => {
    const exporter = new SpanExporter(settings, {
      onFailure: (error) => app.log.warn({ err: error }, "traces are not exported"),
    });
    app.addHook("onRequest", async (request, reply) => {
      if (request.routeOptions.config.right === "none") return; // probes come every few seconds
      request.atEnd(() => {
        const context = traceContext(request.headers["traceparent"], settings);
        if (!context.isSampled) return;
        const server = serverSpan(request, reply, context);
        exporter.add(server, ...generationSpans(request.outcome, server));
      });
    });
    app.addHook("onClose", () => exporter[Symbol.asyncDispose]());
  },
  { name: "tracing", dependencies: ["request-log"] },
);

function serverSpan(
  request: FastifyRequest,
  reply: FastifyReply,
  context: { traceId: string; parentId?: string },
): Span {
  const { outcome, method } = request;
  const route = request.routeOptions.url;
  const status = loggedStatus(request, reply);
  return {
    traceId: context.traceId,
    spanId: newSpanId(),
    parentId: context.parentId,
    name: route === undefined ? method : `${method} ${route}`,
    kind: "server",
    startMs: performance.timeOrigin + outcome.startedAt,
    endMs: performance.timeOrigin + performance.now(),
    attributes: {
      "http.request.method": method,
      "http.route": route,
      "http.response.status_code": status,
      "url.scheme": request.protocol,
      "url.path": request.url.split("?", 1)[0]?.slice(0, pathShownMax),
      "error.type": outcome.code,
      "ingle.request.id": request.id,
    },
    failure: outcome.error === undefined ? undefined : outcome.code,
  };
}

function generationSpans(outcome: RequestOutcome, server: Span): Span[] {
  const { generation, model = "" } = outcome;
  if (generation === undefined) return [];
  return [
    {
      traceId: server.traceId,
      spanId: newSpanId(),
      parentId: server.spanId,
      name: `${generation.operation} ${model}`,
      kind: "internal",
      startMs: performance.timeOrigin + generation.startedAt,
      endMs: generation.endedAt === undefined ? server.endMs : performance.timeOrigin + generation.endedAt,
      attributes: generationAttributes(outcome),
      failure: server.failure,
    },
  ];
}

function generationAttributes(outcome: RequestOutcome): Attributes {
  const { generation, model } = outcome;
  const requested = generation?.operation === "embeddings" ? undefined : generation;
  return {
    "gen_ai.operation.name": generation?.operation,
    "gen_ai.provider.name": "ingle",
    "gen_ai.request.model": model,
    "gen_ai.request.max_tokens": requested?.sampling.maxTokens,
    "gen_ai.request.temperature": requested?.sampling.temperature,
    "gen_ai.request.top_p": requested?.sampling.topP,
    "gen_ai.request.top_k": requested?.sampling.topK,
    "gen_ai.request.seed": requested?.sampling.seed,
    "gen_ai.request.presence_penalty": requested?.sampling.presencePenalty,
    "gen_ai.request.frequency_penalty": requested?.sampling.frequencyPenalty,
    "gen_ai.response.model": model,
    "gen_ai.response.id": requested?.responseId,
    "gen_ai.response.finish_reasons": outcome.finishReason === undefined ? undefined : [outcome.finishReason],
    "gen_ai.usage.input_tokens": outcome.promptTokens,
    "gen_ai.usage.output_tokens": outcome.completionTokens,
    "gen_ai.usage.cache_read.input_tokens": outcome.cachedTokens,
    "error.type": outcome.code,
  };
}
