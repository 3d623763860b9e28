// Puts the server together: plugins, then routes. It never listens; serve.ts does, and tests use app.inject().
import { randomUUID } from "node:crypto";
import { firstProblem } from "@ingle/protocol";
import Fastify, { LogController, type FastifyInstance, type FastifySchemaCompiler } from "fastify";
import type { z } from "zod";
import type { ServerConfig } from "./config.ts";
import type { AnsweringOptions } from "./answering/answering.ts";
import { httpServer, type TlsMaterial } from "./http-server.ts";
import type { LoggerSetting } from "./logger.ts";
import type { ModelLibrary } from "./models/model-library.ts";
import type { ModelRegistry } from "./models/registry.ts";
import { Metrics } from "./metrics/metrics.ts";
import { abort } from "./plugins/abort.ts";
import { auth } from "./plugins/auth.ts";
import { bodyBudget } from "./plugins/body-budget.ts";
import { answerBadPath, answerBrokenHttp } from "./plugins/broken-requests.ts";
import { clientKey } from "./plugins/client-key.ts";
import { drain } from "./plugins/drain.ts";
import { errors } from "./plugins/errors.ts";
import { hosts } from "./plugins/hosts.ts";
import { jsonBody } from "./plugins/json-body.ts";
import { metrics } from "./plugins/metrics.ts";
import { rateLimit } from "./plugins/rate-limit.ts";
import { replyEnd } from "./plugins/reply-end.ts";
import { requestId, requestLog } from "./plugins/request-log.ts";
import { routeList } from "./plugins/route-list.ts";
import { refuseStrangers } from "./plugins/strangers.ts";
import { stalledReaders } from "./plugins/stalled-readers.ts";
import { unknownPaths } from "./plugins/unknown-paths.ts";
import { apiDescriptionRoutes } from "./routes/api-description.ts";
import { chatRoutes } from "./routes/chat-completions.ts";
import { completionRoutes } from "./routes/completions.ts";
import { embeddingRoutes } from "./routes/embeddings.ts";
import { controlRoutes } from "./routes/control.ts";
import { healthRoutes } from "./routes/health.ts";
import { libraryRoutes } from "./routes/library.ts";
import { messagesRoutes } from "./routes/messages.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { modelRoutes } from "./routes/models.ts";
import { responsesRoutes } from "./routes/responses.ts";
import { tokenizeRoutes } from "./routes/tokenize.ts";
import { WireError } from "./wire-error.ts";

/** Longest silence of a stream: proxies commonly close one after 30 to 60 seconds. */
const keepAliveCommentMs = 15_000;

export interface AppDependencies {
  registry: ModelRegistry;
  /** Whose models /api/v1 looks for, fetches and removes. Default: none. */
  library?: ModelLibrary | undefined;
  /** With it the server speaks HTTPS. */
  tls?: TlsMaterial | undefined;
  logger?: LoggerSetting;
  now?: () => Date;
  newId?: () => string;
  keepAliveCommentMs?: number;
}

/** The server without its socket. */
export async function buildApp(
  config: ServerConfig,
  dependencies: AppDependencies,
): Promise<FastifyInstance> {
  const { registry, logger = false } = dependencies;
  const app = Fastify({
    logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    genReqId: requestId,
    bodyLimit: config.limits.bodyBytesMax,
    serverFactory: (listener) => httpServer(listener, config.limits, dependencies.tls),
    return503OnClosing: false, // the registry answers in our own words
    frameworkErrors: answerBadPath,
    clientErrorHandler: answerBrokenHttp,
    schemaController: { compilersFactory: { buildValidator: notBuilt, buildSerializer: notBuilt } },
  });
  app.setValidatorCompiler(zodValidator);

  await app.register(replyEnd);
  await app.register(abort);
  await app.register(requestLog);
  await app.register(metrics, { metrics: new Metrics(registry, { compat: config.metricsCompat }) });
  if (config.tracing !== undefined) {
    const { tracing } = await import("./plugins/tracing.ts"); // not loaded by those who do not trace
    await app.register(tracing, { settings: config.tracing });
  }
  await app.register(errors);
  await app.register(jsonBody);
  await app.register(unknownPaths);
  await app.register(routeList);
  await app.register(drain);
  await app.register(stalledReaders, { timeoutMs: config.limits.stalledReaderTimeoutMs });
  await app.register(hosts, { allowHosts: config.allowHosts, allowOrigins: config.allowOrigins });
  await app.register(auth, { keyDigests: config.keyDigests });
  await app.register(rateLimit, { requestsPerMinute: config.rateLimit });
  await app.register(clientKey);
  await app.register(bodyBudget, { bodyBytesMax: config.limits.bodyBytesMax });

  await app.register(healthRoutes, { registry });
  await app.register(metricsRoutes);
  await app.register(modelRoutes, { registry });
  const answering: AnsweringOptions = {
    registry,
    variant: config.variant,
    imageHosts: new Set(config.allowImageHosts),
    keepAliveMs: dependencies.keepAliveCommentMs ?? keepAliveCommentMs,
    now: dependencies.now ?? (() => new Date()),
    newId: dependencies.newId ?? (() => randomUUID().replaceAll("-", "")),
  };
  await app.register(chatRoutes, answering);
  await app.register(completionRoutes, answering);
  await app.register(tokenizeRoutes, answering);
  await app.register(embeddingRoutes, answering);
  await app.register(messagesRoutes, answering);
  await app.register(responsesRoutes, answering);
  const management = { ...answering, refuseStrangers: refuseStrangers(config) };
  await app.register(controlRoutes, management);
  await app.register(libraryRoutes, { ...management, library: dependencies.library });
  await app.register(apiDescriptionRoutes, {
    registry,
    hasKeys: config.keyDigests.length > 0,
    isRateLimited: config.rateLimit > 0,
  });
  return app;
}

/** The one problem that an error body can name, found by the schema of the route. */
const zodValidator: FastifySchemaCompiler<z.ZodType> = ({ schema }) => {
  return (data) => {
    const result = schema.safeParse(data);
    if (result.success) return { value: result.data };
    const { message, param } = firstProblem(result.error);
    return { error: new WireError("invalid_request", message, { param: param ?? undefined }) };
  };
};

/** Unless told of others, Fastify loads compilers of its own, a hundred files. Nothing here needs one: schemas are zod's. */
function notBuilt(): never {
  throw new Error("Fastify was asked to compile a schema of its own kind.");
}
