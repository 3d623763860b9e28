// Assembles the server: plugins, then routes. It does not listen: listener.ts does, and tests use app.inject().
import { randomUUID } from "node:crypto";
import Fastify, { LogController, type FastifyInstance, type FastifySchemaCompiler } from "fastify";
import type { Machine } from "@ingle/protocol";
import type { z } from "zod";
import { isLoopback, isLoopbackAddress, trustedProxies } from "./access/ip-address.ts";
import { KeyRing } from "./access/key-ring.ts";
import type { KnownBrowsers } from "./access/known-browsers.ts";
import { Sessions } from "./access/sessions.ts";
import { KeyCheck, wrongKeysPerMinute, WrongKeys } from "./access/key-check.ts";
import type { ChatStore } from "./chats/chat-store.ts";
import { checkValue } from "./bodies/check-body.ts";
import type { ServerConfig } from "./config.ts";
import type { ControlledServer } from "./control/controlled-server.ts";
import type { McpControl } from "./mcp/mcp-control.ts";
import { viewOfRunning, type ServerView } from "./control/server-view.ts";
import type { InferenceOptions } from "./protocols/inference.ts";
import { transcriptionRoutes } from "./protocols/transcriptions/routes.ts";
import { httpServer, limitConnections, type TlsMaterial } from "./http-server.ts";
import type { JobRunner } from "./jobs/job-runner.ts";
import { LogRing } from "./live/log-ring.ts";
import { RequestBoard } from "./live/request-board.ts";
import type { LoggerSetting } from "./logger.ts";
import type { ModelLibrary } from "./models/library/model-library.ts";
import type { ModelRegistry } from "./models/registry.ts";
import { Metrics } from "./metrics/metrics.ts";
import type { Page } from "./page/page-files.ts";
import { abort, stalledReaders } from "./plugins/abort.ts";
import { auth, type AuthOptions } from "./plugins/auth.ts";
import { bodyBudget } from "./plugins/body-budget.ts";
import { sendBadPath, sendBrokenHttp } from "./http/broken-requests.ts";
import { clientKey } from "./plugins/client-key.ts";
import { drain } from "./plugins/drain.ts";
import { errors } from "./plugins/errors.ts";
import { hosts } from "./plugins/hosts.ts";
import { ignored } from "./plugins/ignored.ts";
import { jsonBody } from "./plugins/json-body.ts";
import { liveRequests } from "./plugins/live-requests.ts";
import { rateLimit } from "./plugins/rate-limit.ts";
import { replyEnd } from "./plugins/reply-end.ts";
import { metrics, requestId, requestLog } from "./plugins/request-log.ts";
import { routeList } from "./plugins/route-list.ts";
import { chatCompletions } from "./protocols/chat/protocol.ts";
import { serverSampling } from "./protocols/sampling-defaults.ts";
import { completions } from "./protocols/completions/protocol.ts";
import { generationRoute } from "./protocols/generation-route.ts";
import { llamaServerCompletion } from "./protocols/llama-server/completion.ts";
import { llamaServerInfill } from "./protocols/llama-server/infill.ts";
import { lmStudioChat } from "./protocols/lm-studio/chat.ts";
import { lmStudioChatCompletions } from "./protocols/lm-studio/chat-completions.ts";
import { lmStudioCompletions } from "./protocols/lm-studio/completions.ts";
import { messages } from "./protocols/messages/protocol.ts";
import { shapeOfUnknown } from "./protocols/unknown-route.ts";
import { ollamaChat } from "./protocols/ollama/chat.ts";
import { ollamaGenerate } from "./protocols/ollama/generate.ts";
import { responsesPlugin } from "./routes/responses-plugin.ts";
import { apiDescriptionRoutes } from "./routes/api-description.ts";
import { embeddingRoutes } from "./routes/embeddings.ts";
import { chatRoutes } from "./routes/chats.ts";
import { controlRoutes } from "./routes/control.ts";
import { eventRoutes } from "./routes/events.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { knownBrowserRoutes } from "./routes/known-browsers.ts";
import { libraryRoutes } from "./routes/library.ts";
import { lmStudioModelRoutes } from "./routes/lm-studio-models.ts";
import { lmStudioV0Routes } from "./routes/lm-studio-v0.ts";
import { mcpRoutes } from "./routes/mcp.ts";
import { monitoringRoutes } from "./routes/monitoring.ts";
import { managedModelRoutes } from "./routes/managed-models.ts";
import { modelRoutes } from "./routes/models.ts";
import { llamaServerAdapterRoutes } from "./routes/llama-server-adapters.ts";
import { llamaServerEmbeddingRoutes } from "./routes/llama-server-embeddings.ts";
import { llamaServerSlotRoutes } from "./routes/llama-server-slots.ts";
import { llamaServerRoutes } from "./routes/llama-server.ts";
import { ollamaEmbeddingRoutes } from "./routes/ollama-embeddings.ts";
import { ollamaModelRoutes } from "./routes/ollama-models.ts";
import { pageRoutes } from "./routes/page.ts";
import { requestRoutes } from "./routes/requests.ts";
import { rerankRoutes } from "./routes/rerank.ts";
import { renderRoutes } from "./routes/render.ts";
import { serverControlRoutes } from "./routes/server-control.ts";
import { sessionRoutes } from "./routes/session.ts";
import { tokenizeRoutes } from "./routes/tokenize.ts";
import { openStore } from "./stored/open-store.ts";
import { WireError } from "./wire-error.ts";

/** Maximum silence of a stream: proxies commonly close silent ones after 30 to 60 seconds. */
const keepAliveCommentMs = 15_000;

export interface AppDependencies {
  registry: ModelRegistry;
  /** The library that /api/v1 searches, downloads to and removes from. Default: none. */
  library?: ModelLibrary | undefined;
  /** Returns the description of the machine for /api/v1/machine. Default: there is none. */
  machine?: (() => Promise<Machine>) | undefined;
  /** The jobs of that library. Default: none, and /api/v1/jobs does not exist. */
  jobs?: JobRunner | undefined;
  /** Default: the keys of the config, without key files. */
  keys?: KeyRing;
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
  now?: () => Date;
  newId?: () => string;
  keepAliveCommentMs?: number;
}

/** The special features of the control address, which the app's own page uses. */
export interface AppControl {
  /** A page opened with this token in its URL gets a cookie. */
  token: string;
  /** The `/v1` server that the page starts and stops. */
  server: ControlledServer;
  /** The MCP servers that the page turns on. Their owner disposes of them. */
  mcp: McpControl;
  /** The browsers that may come back after a restart. Default: none. */
  browsers?: KnownBrowsers | undefined;
  /** The chats of its page; undefined if the browser keeps them. Their owner disposes of them. */
  chats?: ChatStore | undefined;
}

/** Builds the server without a socket. */
export async function buildApp(
  config: ServerConfig,
  dependencies: AppDependencies,
): Promise<FastifyInstance> {
  const { registry, keys = new KeyRing(config), app: control } = dependencies;
  const { board = new RequestBoard(), logRing = new LogRing() } = dependencies;
  const trustsProxy = trustedProxies(config.trustProxies);
  const app = bareApp(config, dependencies, trustsProxy);
  await app.register(replyEnd);
  await app.register(abort);
  await app.register(requestLog);
  await app.register(metrics, { metrics: new Metrics(registry, { compat: config.metricsCompat }) });
  if (config.tracing !== undefined) {
    const { tracing } = await import("./plugins/tracing.ts"); // loaded only if traces are exported
    await app.register(tracing, { settings: config.tracing });
  }
  await app.register(errors, { shapeOfUnknown: (request) => shapeOfUnknown(request, config) });
  await app.register(ignored);
  await app.register(routeList);
  await app.register(drain);
  await app.register(stalledReaders, { timeoutMs: config.limits.stalledReaderTimeoutMs });
  const isAppListener = control !== undefined;
  const { allowHosts, allowOrigins } = config;
  await app.register(hosts, { allowHosts, allowOrigins, isForOwnPages: isAppListener });
  const access = accessOf(config, { keys, trustsProxy, isAppListener });
  await app.register(auth, access);
  await app.register(rateLimit, { requestsPerMinute: config.rateLimit });
  await app.register(clientKey, { trustsProxy });
  await app.register(liveRequests, { board, keys });
  await app.register(bodyBudget, config.limits);
  await app.register(jsonBody, config.limits);
  const view = control === undefined ? viewOfRunning(app, { config, keys }) : () => control.server.view();
  await addRoutes(app, config, { ...dependencies, board, logRing, access, view });
  return app;
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

/** What routes need besides the dependencies. */
interface RouteParts {
  access: AuthOptions;
  view: ServerView;
  board: RequestBoard;
  logRing: LogRing;
}

async function addRoutes(
  app: FastifyInstance,
  config: ServerConfig,
  dependencies: AppDependencies & RouteParts,
): Promise<void> {
  const { registry, library, access, view, board, logRing, page, app: control } = dependencies;
  const inference = inferenceOptions(config, dependencies);
  const prefixes: ("/v1" | "")[] = config.llamaServerApi ? ["/v1", ""] : ["/v1"];
  await app.register(monitoringRoutes, { registry, hasPublicMetrics: config.metricsPublic });
  await app.register(modelRoutes, { registry });
  await app.register(generationRoute(chatCompletions), inference);
  await app.register(generationRoute(completions), inference);
  await app.register(transcriptionRoutes, { ...inference, prefixes });
  await app.register(tokenizeRoutes, inference);
  await app.register(renderRoutes, inference);
  await app.register(embeddingRoutes, inference);
  await app.register(rerankRoutes, inference);
  await app.register(generationRoute(messages), inference);
  await app.register(responsesPlugin, {
    ...inference,
    store: await openStore(config.responses),
    prefixes,
  });
  if (config.ollamaApi) await addOllamaRoutes(app, inference, dependencies);
  if (config.llamaServerApi) await addLlamaServerRoutes(app, inference);
  if (config.lmStudioApi) await addLmStudioRoutes(app, inference, dependencies);
  else await app.register(managedModelRoutes, { registry });
  await app.register(controlRoutes, { ...inference, machine: dependencies.machine });
  const { jobs } = dependencies;
  await app.register(eventRoutes, {
    ...inference,
    view,
    board,
    logRing,
    jobs,
    chatFeed: control?.chats?.feed,
  });
  await app.register(requestRoutes, { board });
  await app.register(jobRoutes, { jobs });
  await app.register(libraryRoutes, { ...inference, library });
  await app.register(serverControlRoutes, { view, server: control?.server });
  await app.register(sessionRoutes, { ...access, keepsChats: control?.chats !== undefined });
  await app.register(apiDescriptionRoutes, {
    registry,
    keys: access.keys,
    isRateLimited: config.rateLimit > 0,
  });
  if (control !== undefined) {
    await app.register(mcpRoutes, { registry, mcp: control.mcp });
    await app.register(chatRoutes, { chats: control.chats });
    const { browsers, token, chats } = control;
    const known = { sessions: access.sessions, token, keepsChats: chats !== undefined };
    if (browsers !== undefined) await app.register(knownBrowserRoutes, { ...known, browsers });
  }
  if (page !== undefined) await app.register(pageRoutes, { ...access, page, token: control?.token });
}

/** Ollama's API, beside ours under /api/v1. */
async function addOllamaRoutes(
  app: FastifyInstance,
  inference: InferenceOptions,
  { library, jobs }: AppDependencies,
): Promise<void> {
  await app.register(generationRoute(ollamaChat), inference);
  await app.register(generationRoute(ollamaGenerate), inference);
  await app.register(ollamaEmbeddingRoutes, inference);
  await app.register(ollamaModelRoutes, { ...inference, library, jobs });
}

/**
 * llama-server's API: its own routes, and the routes of /v1 without the prefix /v1. Those of responses and transcriptions are
 * registered with the routes under /v1.
 */
async function addLlamaServerRoutes(app: FastifyInstance, inference: InferenceOptions): Promise<void> {
  await app.register(generationRoute(llamaServerCompletion), inference);
  await app.register(generationRoute({ ...llamaServerCompletion, path: "/completions" }), inference);
  await app.register(generationRoute(llamaServerInfill), inference);
  await app.register(generationRoute({ ...chatCompletions, path: "/chat/completions" }), inference);
  await app.register(llamaServerRoutes, inference);
  await app.register(llamaServerSlotRoutes, inference);
  await app.register(llamaServerEmbeddingRoutes, inference);
  await app.register(llamaServerAdapterRoutes, inference);
}

/** LM Studio's API: v0 beside ours, and v1 in place of our routes with the same paths. */
async function addLmStudioRoutes(
  app: FastifyInstance,
  inference: InferenceOptions,
  { jobs }: AppDependencies,
): Promise<void> {
  await app.register(generationRoute(lmStudioChatCompletions), inference);
  await app.register(generationRoute(lmStudioCompletions), inference);
  await app.register(lmStudioV0Routes, inference);
  await app.register(lmStudioModelRoutes, { ...inference, jobs });
  await app.register(generationRoute(lmStudioChat()), inference);
}

function inferenceOptions(config: ServerConfig, dependencies: AppDependencies): InferenceOptions {
  return {
    registry: dependencies.registry,
    variant: config.variant,
    sampling: serverSampling(config.sampling),
    imageHosts: new Set(config.allowImageHosts),
    keepAliveMs: dependencies.keepAliveCommentMs ?? keepAliveCommentMs,
    now: dependencies.now ?? (() => new Date()),
    newId: dependencies.newId ?? (() => randomUUID().replaceAll("-", "")),
  };
}

/** The plugins that decide who may send which requests. */
function accessOf(
  config: ServerConfig,
  { keys, ...options }: Pick<AuthOptions, "keys" | "trustsProxy" | "isAppListener">,
): AuthOptions {
  const { rateLimit: most } = config;
  const wrongKeys = new WrongKeys(most === 0 ? wrongKeysPerMinute : Math.min(most, wrongKeysPerMinute));
  const keyCheck = new KeyCheck(keys, wrongKeys);
  return { ...options, keys, keyCheck, sessions: new Sessions(), isLoopbackServer: isLoopback(config.host) };
}

/** plugins/json-body.ts checks bodies as it reads them; only a missing body is checked here, as if it were an empty object. */
const zodValidator: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  return (data: unknown) => {
    const isBody = httpPart === "body";
    if (isBody && data !== undefined && data !== null) return { value: data };
    const checked = checkValue(isBody ? {} : data, schema);
    if (!("refusal" in checked)) return { value: checked.value };
    const { code, message, param } = checked.refusal;
    return { error: new WireError(code, message, { param }) };
  };
};

/** Without these, Fastify would load its own compilers, a hundred files. Our schemas are zod's and need none. */
function notBuilt(): never {
  throw new Error("Fastify was asked to compile a schema of its own kind.");
}
