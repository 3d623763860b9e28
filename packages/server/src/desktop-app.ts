// The app: two servers over one registry of models. The control address is for its own page, on this machine alone and with a
// token; the `/v1` server is for programs, and the page starts and stops it.
import { randomBytes } from "node:crypto";
import path from "node:path";
import type { MemoryBudget } from "@ingle/engine";
import type { Machine } from "@ingle/protocol";
import { KeyRing } from "./access/key-ring.ts";
import { controlConfig, publicConfig } from "./control/app-config.ts";
import { ControlledServer } from "./control/controlled-server.ts";
import { KeptKeys } from "./control/kept-keys.ts";
import { KeptSettings } from "./control/kept-settings.ts";
import { JobRunner } from "./jobs/job-runner.ts";
import { openListener, portsFrom, type Listener } from "./listener.ts";
import { LogRing } from "./live/log-ring.ts";
import { RequestBoard } from "./live/request-board.ts";
import { keptIn, loggerSetting, type LoggerSetting } from "./logger.ts";
import type { ModelSource } from "./models/catalog/known-model.ts";
import type { ModelLibrary } from "./models/library/model-library.ts";
import { loadStartupModels, ParallelChoice } from "./control/startup-models.ts";
import { ModelRegistry } from "./models/registry.ts";
import { thisMachine } from "./this-machine.ts";
import { installedPage, type Page } from "./page/page-files.ts";
import { variants } from "./variants.ts";

/** Bytes of the token: nobody guesses it, and it is gone when the app ends. */
const tokenBytes = 32;

export interface DesktopAppOptions {
  env: NodeJS.ProcessEnv;
  /** Of the control address; the next free one is used where it is taken, and any free one for 0. */
  port: number;
  /** Where settings and keys are kept. */
  configDir: string;
  /** The models that requests may name, loaded to compute so many requests at once; undefined is the usual number. */
  source: (parallel: () => number | undefined) => ModelSource;
  library?: ModelLibrary | undefined;
  /** Tells /api/v1/machine what the app runs on. Default: this machine. */
  machine?: (() => Promise<Machine>) | undefined;
  /** Memory that all models may take together. Default: nothing is accounted. */
  budget?: MemoryBudget | undefined;
  /** Default: warnings and errors, readable on a terminal, on stderr. The page shows lines of level info, too. */
  logger?: LoggerSetting;
  /** Default: the one that is installed beside this package. */
  page?: Page;
  /** Told, in a sentence, what is wrong and keeps nobody from using the app. */
  onWarning: (sentence: string) => void;
}

export interface DesktopApp extends AsyncDisposable {
  /** Of the control address, without its token. */
  readonly url: string;
  /** As good as a management key at the control address, and nowhere else. */
  readonly token: string;
  readonly registry: ModelRegistry;
  readonly server: ControlledServer;
  /** Resolves when the `/v1` server that starts with the app runs, or has failed; at once where none does. */
  readonly started: Promise<void>;
  /** Requests for work that are not answered yet, at both addresses. */
  openRequests(): number;
  /**
   * Takes no new requests, lets running ones end until the deadline (default: the config's), then cuts them, and
   * frees the models. Idempotent.
   */
  close(options?: { deadlineMs?: number | undefined }): Promise<void>;
}

/** Begins to listen at the control address. Throws ConfigError when it cannot be had, or a variable not be used. */
export async function openDesktopApp(options: DesktopAppOptions): Promise<DesktopApp> {
  const { env, port, configDir, library, budget, onWarning } = options;
  const config = controlConfig(env, port);
  const keys = await KeptKeys.open(path.join(configDir, "keys.json"));
  const settings = await KeptSettings.open(path.join(configDir, "server.json"));
  if (settings.problem !== undefined)
    onWarning(`${settings.problem} The server has its default settings until you change them.`);
  if (keys.problem !== undefined)
    onWarning(`${keys.problem} The server does not start until you create its keys anew.`);

  let control: Listener | undefined;
  const parallel = new ParallelChoice();
  const registry = new ModelRegistry({
    ...config.models,
    waitingMax: config.engine.waitingMax,
    source: parallel.noted(options.source(() => parallel.current)),
    onSourceFailure: (err) => control?.log.warn({ err }, "the models of this machine cannot be listed"),
    budget,
  });
  const logRing = new LogRing();
  const logger = keptIn(
    logRing,
    options.logger ?? (await loggerSetting({ level: "warn", isTerminal: process.stderr.isTTY })),
  );
  const machine = options.machine ?? (() => thisMachine(env));
  const jobs =
    library === undefined
      ? undefined
      : new JobRunner({
          library,
          registry,
          onFailure: (err, { id, kind }) => control?.log.warn({ err, job: id, kind }, "a job has failed"),
        });
  const shared = { registry, library, jobs, machine, logger, logRing, board: new RequestBoard() };

  const server = new ControlledServer({
    settings,
    keys,
    loadModels: (asked, signal) => loadStartupModels(asked, { registry, parallel, signal }),
    listen: (asked, ring) =>
      openListener(publicConfig(env, asked), {
        ...shared,
        keys: ring,
        ports: portsFrom(asked.port),
        advice: { port: "choose another port", host: "choose another host" },
      }),
    onFailure: (err, what) => control?.log.warn({ err }, what),
  });
  const token = randomBytes(tokenBytes).toString("base64url");
  control = await openListener(config, {
    ...shared,
    keys: ringOf(token),
    page: options.page ?? (await installedPage()),
    app: { token, server },
    ports: controlPorts(port),
  });
  return running({ control, server, registry, jobs, token, startsServer: settings.current.starts_with_app });
}

interface Parts {
  control: Listener;
  server: ControlledServer;
  registry: ModelRegistry;
  jobs: JobRunner | undefined;
  token: string;
  startsServer: boolean;
}

function running({ control, server, registry, jobs, token, startsServer }: Parts): DesktopApp {
  const close: DesktopApp["close"] = async (options) => {
    const jobsEnded = jobs?.[Symbol.asyncDispose]();
    const modelsFreed = registry[Symbol.asyncDispose](); // from here on, new requests are told to go elsewhere
    await Promise.all([server.stop(options), control.close(options)]);
    await Promise.all([jobsEnded, modelsFreed]);
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

/** Everything at the control address needs the token, whoever asks. */
function ringOf(token: string): KeyRing {
  const ring = new KeyRing();
  ring.addToken(token);
  ring.needKey();
  return ring;
}

/** Leaves the ports alone at which programs expect the `/v1` server. */
function controlPorts(port: number): readonly number[] {
  const usual = new Set(Object.values(variants).map((variant) => variant.port));
  return portsFrom(port).filter((each) => each === port || !usual.has(each));
}
