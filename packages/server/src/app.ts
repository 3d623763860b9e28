// Assembles the server: plugins, then the APIs. It does not listen: listener.ts does, and tests use app.inject().
import Fastify, { LogController, type FastifyInstance } from "fastify";
import type { Machine } from "@ingle/protocol";
import { isLoopbackAddress, trustedProxies } from "./access/ip-address.ts";
import { KeyRing } from "./access/keys.ts";
import { aliases, shapeOfUnknown } from "./apis/paths.ts";
import { anthropicApi } from "./apis/anthropic/routes.ts";
import { llamaServerApi } from "./apis/llama-server/routes.ts";
import { lmStudioApi } from "./apis/lm-studio/routes.ts";
import { managementApi, type AppControl } from "./apis/management/routes.ts";
import { ollamaApi } from "./apis/ollama/routes.ts";
import { openAiApi } from "./apis/openai/routes.ts";
import { zodValidator } from "./bodies/check-body.ts";
import type { ServerConfig } from "./config.ts";
import { inferenceOptions, type InferenceDefaults } from "./generation/inference.ts";
import { sendBadPath, sendBrokenHttp } from "./http/broken-requests.ts";
import { httpServer, limitConnections, type TlsMaterial } from "./http-server.ts";
import type { JobRunner } from "./jobs/job-runner.ts";
import { LogRing } from "./live/log-ring.ts";
import { RequestBoard } from "./live/request-board.ts";
import type { LoggerSetting } from "./logger.ts";
import { Metrics } from "./metrics/metrics.ts";
import type { ModelLibrary } from "./models/library/model-library.ts";
import type { ModelSettingsStore } from "./models/settings/model-settings-store.ts";
import type { ModelRegistry } from "./models/registry.ts";
import type { Page } from "./page/page-files.ts";
import { pageRoutes } from "./page/routes.ts";
import { abort, stalledReaders, drain, replyEnd } from "./plugins/request-end.ts";
import { auth, authOptions, type AuthOptions, tenants } from "./plugins/auth.ts";
import { bodyBudget, ignored, jsonBody } from "./plugins/bodies.ts";
import { errors } from "./plugins/errors.ts";
import { background } from "./plugins/background.ts";
import { hosts } from "./plugins/hosts.ts";
import { liveRequests } from "./plugins/live-requests.ts";
import { rateLimit } from "./plugins/rate-limit.ts";
import { metrics, requestId, requestLog } from "./plugins/request-log.ts";
import { routeList } from "./plugins/route-list.ts";

export interface AppDependencies extends InferenceDefaults {
  registry: ModelRegistry;
  /** The library that /api/v1 searches, downloads to and removes from. Default: none. */
  library?: ModelLibrary | undefined;
  /** The settings that stay with models, as the registry has them. Default: none. */
  modelSettings?: ModelSettingsStore | undefined;
  /** Returns the description of the machine for /api/v1/machine. Default: there is none. */
  machine?: (() => Promise<Machine>) | undefined;
  /** The jobs of that library. Default: none, and /api/v1/jobs does not exist. */
  jobs?: JobRunner | undefined;
  /** Default: the keys of the config, without key files. */
  keys?: KeyRing;
  /** Where files and batches are kept, unless the config says. Default: nowhere, and their routes are `not_enabled`. */
  batchFolder?: string | undefined;
  /** The web page under `/`. Default: none. */
  page?: Page | undefined;
  /** Makes this the control address of the app. Its token must be one of the keys, and keys must be required. */
  app?: AppControl | undefined;
  /** If given, the server uses HTTPS. */
  tls?: TlsMaterial | undefined;
  logger?: LoggerSetting;
  /** Keeps track of running requests. Default: a new board. */
  board?: RequestBoard | undefined;
  /** The log lines for the event stream; filled by the logger's creator. Default: none. */
  logRing?: LogRing | undefined;
}

/** Builds the server without a socket. */
export async function buildApp(
  config: ServerConfig,
  dependencies: AppDependencies,
): Promise<FastifyInstance> {
  const { registry, library, modelSettings, machine, jobs, page, app: control } = dependencies;
  const { keys = new KeyRing(config), board = new RequestBoard(), logRing = new LogRing() } = dependencies;
  const trustsProxy = trustedProxies(config.trustProxies);
  const app = bareApp(config, dependencies, trustsProxy);
  const access = authOptions(config, { keys, trustsProxy, isAppListener: control !== undefined });
  await addPlugins(app, config, { registry, board, access });

  const inference = inferenceOptions(config, dependencies);
  await app.register(openAiApi, {
    ...inference,
    responses: config.responses,
    batches: batchPlace(config, dependencies),
  });
  await app.register(anthropicApi, inference);
  if (config.ollamaApi) await app.register(ollamaApi, { ...inference, library, jobs });
  if (config.llamaServerApi) await app.register(llamaServerApi, inference);
  if (config.lmStudioApi) await app.register(lmStudioApi, { ...inference, jobs });
  const ofModels = { library, modelSettings, jobs };
  const management = { ...inference, ...ofModels, config, access, board, logRing, machine, control };
  await app.register(managementApi, management);
  if (page !== undefined) await app.register(pageRoutes, { ...access, page, token: control?.token });
  return app;
}

function batchPlace({ batches }: ServerConfig, { batchFolder }: AppDependencies) {
  return { folder: batches.store ?? batchFolder, bytesMax: batches.sizeMaxMiB * 1024 * 1024 };
}

function bareApp(
  config: ServerConfig,
  { logger = false, tls }: AppDependencies,
  trustsProxy: (address: string | undefined) => boolean,
): FastifyInstance {
  const app = Fastify({
    logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    genReqId: requestId,
    bodyLimit: config.limits.bodyBytesMax,
    trustProxy: config.trustProxies.length > 0 && trustsProxy,
    serverFactory: (listener) =>
      limitConnections(httpServer(listener, config.limits, tls), {
        max: config.limits.connectionsPerAddressMax,
        isExempt: (address) => isLoopbackAddress(address) || trustsProxy(address),
      }),
    return503OnClosing: false, // the registry throws its own error
    frameworkErrors: sendBadPath,
    clientErrorHandler: sendBrokenHttp,
    schemaController: { compilersFactory: { buildValidator: notBuilt, buildSerializer: notBuilt } },
  });
  return app.setValidatorCompiler(zodValidator);
}

/** Without these, Fastify would load its own compilers, a hundred files. Our schemas are zod's and need none. */
function notBuilt(): never {
  throw new Error("Fastify was asked to compile a schema of its own kind.");
}

interface PluginOptions {
  registry: ModelRegistry;
  board: RequestBoard;
  access: AuthOptions;
}

/** What every request passes, in this order. */
async function addPlugins(
  app: FastifyInstance,
  config: ServerConfig,
  { registry, board, access }: PluginOptions,
): Promise<void> {
  const { isAppListener: isForOwnPages } = access;
  await app.register(replyEnd);
  await app.register(abort);
  await app.register(requestLog);
  await app.register(metrics, {
    metrics: new Metrics(registry, { compat: config.metricsCompat, meters: board.meters }),
  });
  if (config.tracing !== undefined) {
    const { tracing } = await import("./plugins/tracing.ts"); // loaded only if traces are exported
    await app.register(tracing, { settings: config.tracing });
  }
  await app.register(errors, { shapeOfUnknown: (request) => shapeOfUnknown(request, config) });
  await app.register(ignored);
  await app.register(routeList);
  await app.register(aliases, config);
  await app.register(drain);
  await app.register(stalledReaders, { timeoutMs: config.limits.stalledReaderTimeoutMs });
  const { allowHosts, allowOrigins } = config;
  await app.register(hosts, { allowHosts, allowOrigins, isForOwnPages });
  await app.register(auth, access);
  await app.register(background, access);
  await app.register(rateLimit, { requestsPerMinute: config.rateLimit });
  await app.register(tenants, access);
  await app.register(liveRequests, { board });
  await app.register(bodyBudget, config.limits);
  await app.register(jsonBody, config.limits);
}
