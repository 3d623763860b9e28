// The app: two servers that share one model registry. The control address is for the app's page, only on this machine and with a
// token. The `/v1` server is for programs; the page starts and stops it.
import { randomBytes } from "node:crypto";
import path from "node:path";
import type { MemoryBudget } from "@ingle/engine";
import type { Machine } from "@ingle/protocol";
import { KeyRing } from "./access/keys.ts";
import { keepUsage } from "./access/kept-usage.ts";
import { KnownBrowsers } from "./access/known-browsers.ts";
import { type ChatStore, openChats } from "./chats/chat-store.ts";
import { controlConfig, publicConfig } from "./control/app-config.ts";
import { ControlledServer } from "./control/controlled-server.ts";
import { KeptKeys } from "./control/kept-keys.ts";
import { KeptSettings } from "./control/kept-settings.ts";
import { McpControl } from "./mcp/mcp-control.ts";
import { JobRunner } from "./jobs/job-runner.ts";
import { mcpFile } from "./mcp/mcp-file.ts";
import { crashLog, keptIn, loggerSetting, type LoggerSetting } from "./logger.ts";
import { openListener, portsFrom, type Listener } from "./listener.ts";
import { LogRing } from "./live/log-ring.ts";
import { RequestBoard } from "./live/request-board.ts";
import type { ModelSource } from "./models/catalog/known-model.ts";
import type { ModelLibrary } from "./models/library/model-library.ts";
import { ModelSettingsStore } from "./models/settings/model-settings-store.ts";
import { loadStartupModels, ParallelChoice } from "./control/startup-models.ts";
import { ModelRegistry } from "./models/registry.ts";
import { thisMachine } from "./this-machine.ts";
import { installedPage, type Page } from "./page/page-files.ts";
import { variants } from "./variants.ts";

/** Random bytes of the token: too many to guess. It expires when the app ends. */
const tokenBytes = 32;

interface DesktopAppOptions {
  env: NodeJS.ProcessEnv;
  /** Port of the control address. If it is taken, the next free one is used; 0 means any free one. */
  port: number;
  /** The folder for settings and keys, and for mcp.json unless the environment names another file. */
  configDir: string;
  /** Where the `/v1` server keeps files and batches, unless the environment says. Default: nowhere. */
  batchFolder?: string;
  /** Where chats are kept: `app`, `browser` or the path of an SQLite file. Default: `app`. */
  chatStore?: string;
  /** The models that requests may use; `parallel` is how many requests each computes at once, undefined for the default. */
  source: (parallel: () => number | undefined) => ModelSource;
  library?: ModelLibrary | undefined;
  /** Returns the response of /api/v1/machine. Default: describes this machine. */
  machine?: (() => Promise<Machine>) | undefined;
  /** Memory limit for all models together. Default: no limit. */
  budget?: MemoryBudget | undefined;
  /** Default: warnings and errors on stderr, as text unless INGLE_LOG_FORMAT is json. The page also shows info lines. */
  logger?: LoggerSetting;
  /** Default: the installed page. */
  page?: Page;
  /** Called with a sentence about a problem that does not prevent using the app. */
  onWarning: (sentence: string) => void;
}

export interface DesktopApp extends AsyncDisposable {
  /** The control address, without the token. */
  readonly url: string;
  /** Has the rights of a management key, only at the control address. */
  readonly token: string;
  readonly registry: ModelRegistry;
  readonly server: ControlledServer;
  /** Resolves when the `/v1` server that starts with the app is running or has failed; at once if none does. */
  readonly started: Promise<void>;
  /** Open requests for work, at both addresses. */
  openRequests(): number;
  /**
   * Refuses new requests, waits for running ones until the deadline (default: the config's), cuts them, and
   * unloads the models. Idempotent.
   */
  close(options?: { deadlineMs?: number | undefined }): Promise<void>;
}

/** Starts to listen at the control address. Throws ConfigError if it is not available or an environment variable is invalid. */
export async function openDesktopApp(options: DesktopAppOptions): Promise<DesktopApp> {
  const { env, port, configDir, library, budget, onWarning } = options;
  const config = controlConfig(env, port);
  const closing = new AbortController();
  const { keys, settings, browsers, modelSettings } = await keptFiles(configDir, onWarning, closing.signal);
  let control: Listener | undefined;
  const parallel = new ParallelChoice();
  const registry = new ModelRegistry({
    ...config.models,
    waitingMax: config.engine.waitingMax,
    source: parallel.recorded(options.source(() => parallel.current)),
    onSourceFailure: (err) => control?.log.warn({ err }, "the models of this machine cannot be listed"),
    onCrash: crashLog((sentence, about) => control?.log.warn(about, sentence)),
    budget,
    modelSettings,
  });
  const logRing = new LogRing();
  const logger = keptIn(
    logRing,
    options.logger ?? (await loggerSetting({ level: "warn", format: config.logFormat ?? "text" })),
  );
  const machine = options.machine ?? (() => thisMachine(env));
  const onJobFailure: ConstructorParameters<typeof JobRunner>[0]["onFailure"] = (err, { id, kind }) =>
    control?.log.warn({ err, job: id, kind }, "a job has failed");
  const jobs =
    library === undefined ? undefined : new JobRunner({ library, registry, onFailure: onJobFailure });
  const board = new RequestBoard();
  const usage = await keepUsage(path.join(configDir, "key-usage.json"), board.meters, {
    onProblem: onWarning,
  });
  const shared = { registry, library, modelSettings, jobs, machine, logger, logRing, board };

  const server = new ControlledServer({
    settings,
    keys,
    loadModels: (asked, signal) => loadStartupModels(asked, { registry, parallel, signal }),
    listen: (asked, ring) =>
      openListener(publicConfig(env, asked), {
        ...shared,
        batchFolder: options.batchFolder,
        keys: ring,
        ports: portsFrom(asked.port),
        advice: { port: "choose another port", host: "choose another host" },
      }),
    onFailure: (err, what) => control?.log.warn({ err }, what),
  });
  const chats = await openChats({ place: options.chatStore ?? "app", configDir, onWarning });
  const mcp = new McpControl({ file: mcpFile(undefined, { env, configDir }), env });
  const token = randomBytes(tokenBytes).toString("base64url");
  control = await openListener(config, {
    ...shared,
    keys: tokenRing(token),
    page: options.page ?? (await installedPage()),
    app: { token, server, mcp, chats, browsers },
    ports: controlPorts(port),
  });
  return running({
    closing,
    control,
    server,
    mcp,
    chats,
    registry,
    jobs,
    usage,
    token,
    startsServer: settings.current.starts_with_app,
  });
}

/** The small files of the app. One that cannot be used is a warning. */
async function keptFiles(configDir: string, onWarning: DesktopAppOptions["onWarning"], signal: AbortSignal) {
  const keys = await KeptKeys.open(path.join(configDir, "keys.json"));
  const settings = await KeptSettings.open(path.join(configDir, "server.json"));
  if (settings.problem !== undefined)
    onWarning(`${settings.problem} The server uses default settings until you change them.`);
  if (keys.problem !== undefined)
    onWarning(`${keys.problem} The server does not start until you create its keys again.`);
  const modelSettings = await ModelSettingsStore.follow(configDir, {
    isLenient: true,
    onFailure: (error) => onWarning(error instanceof Error ? error.message : String(error)),
    signal,
  });
  const browsers = await KnownBrowsers.open(path.join(configDir, "browsers.json"));
  return { keys, settings, browsers, modelSettings };
}

interface Parts {
  /** Aborted at the end. */
  closing: AbortController;
  control: Listener;
  server: ControlledServer;
  mcp: McpControl;
  chats: ChatStore | undefined;
  registry: ModelRegistry;
  jobs: JobRunner | undefined;
  usage: AsyncDisposable;
  token: string;
  startsServer: boolean;
}

function running(parts: Parts): DesktopApp {
  const { closing, control, server, mcp, chats, registry, jobs, usage, token, startsServer } = parts;
  const close: DesktopApp["close"] = async (options) => {
    closing.abort();
    const jobsEnded = jobs?.[Symbol.asyncDispose]();
    const modelsFreed = registry[Symbol.asyncDispose](); // new requests are refused from here on
    await Promise.all([server.stop(options), control.close(options)]);
    await usage[Symbol.asyncDispose]();
    chats?.[Symbol.dispose]();
    await Promise.all([jobsEnded, modelsFreed, mcp[Symbol.asyncDispose]()]);
  };
  return {
    url: control.url,
    token,
    registry,
    server,
    started: startsServer ? server.start() : Promise.resolve(),
    openRequests: () => control.openRequests() + server.view().open_requests,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** A key ring with only the token, which every request at the control address needs. */
function tokenRing(token: string): KeyRing {
  const ring = new KeyRing();
  ring.addToken(token);
  ring.needKey();
  return ring;
}

/** Ports to try, without those on which programs expect the `/v1` server. */
function controlPorts(port: number): readonly number[] {
  const usual = new Set(Object.values(variants).map((variant) => variant.port));
  return portsFrom(port).filter((each) => each === port || !usual.has(each));
}
