// The server's own API: /api/v1, the probes and metrics, and the description of all routes. The app's control address has more of it.
import type { Machine } from "@ingle/protocol";
import type { FastifyInstance } from "fastify";
import type { KnownBrowsers } from "../../access/known-browsers.ts";
import type { ChatStore } from "../../chats/chat-store.ts";
import type { ServerConfig } from "../../config.ts";
import type { ControlledServer } from "../../control/controlled-server.ts";
import { runningServerView } from "../../control/server-view.ts";
import type { InferenceOptions } from "../../generation/inference.ts";
import type { JobRunner } from "../../jobs/job-runner.ts";
import type { LogRing } from "../../live/log-ring.ts";
import type { RequestBoard } from "../../live/request-board.ts";
import type { McpControl } from "../../mcp/mcp-control.ts";
import type { ModelLibrary } from "../../models/library/model-library.ts";
import type { ModelSettingsStore } from "../../models/settings/model-settings-store.ts";
import type { AuthOptions } from "../../plugins/auth.ts";
import { addApiDescription } from "./api-description.ts";
import { chatRoutes } from "./chats.ts";
import { addEvents } from "./events.ts";
import { addJobs } from "./jobs.ts";
import { knownBrowserRoutes } from "./known-browsers.ts";
import { addLibrary } from "./library.ts";
import { mcpRoutes } from "./mcp.ts";
import { addModelSettings } from "./model-settings.ts";
import { addModelMemory, addModels } from "./models.ts";
import { addMonitoring } from "./monitoring.ts";
import { addRequests } from "./requests.ts";
import { addServerControl } from "./server-control.ts";
import { addSession } from "./session.ts";
import { addState } from "./state.ts";

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

interface ManagementOptions extends InferenceOptions {
  config: ServerConfig;
  access: AuthOptions;
  board: RequestBoard;
  logRing: LogRing;
  machine: (() => Promise<Machine>) | undefined;
  library: ModelLibrary | undefined;
  modelSettings: ModelSettingsStore | undefined;
  jobs: JobRunner | undefined;
  /** Undefined unless this is the control address of the app. */
  control: AppControl | undefined;
}

export async function managementApi(app: FastifyInstance, options: ManagementOptions): Promise<void> {
  const { registry, config, access, board, jobs, library, control } = options;
  const view =
    control === undefined
      ? runningServerView(app, { config, keys: access.keys })
      : () => control.server.view();
  addMonitoring(app, { registry, hasPublicMetrics: config.metricsPublic });
  if (!config.lmStudioApi) addModels(app, { registry }); // LM Studio's API has these paths otherwise
  addModelMemory(app, { registry });
  addModelSettings(app, options);
  addState(app, options);
  addEvents(app, { ...options, view, chatFeed: control?.chats?.feed });
  addRequests(app, { board });
  addJobs(app, { jobs });
  addLibrary(app, { ...options, library });
  addServerControl(app, { view, server: control?.server, ring: access.keys, meters: board.meters });
  addSession(app, { ...access, keepsChats: control?.chats !== undefined });
  addApiDescription(app, { registry, keys: access.keys, isRateLimited: config.rateLimit > 0 });
  if (control === undefined) return;
  const { mcp, chats, browsers, token } = control;
  await app.register(mcpRoutes, { registry, mcp });
  await app.register(chatRoutes, { chats });
  const known = { sessions: access.sessions, token, keepsChats: chats !== undefined };
  if (browsers !== undefined) await app.register(knownBrowserRoutes, { ...known, browsers });
}
