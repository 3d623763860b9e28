// A server for the time of one command: on a free port of this machine, with a key that nobody else has, and with nothing kept on disk.
import { randomBytes } from "node:crypto";
import type { ModelInfo } from "@ingle/engine";
import { resolveConfig, type ServerConfig, type ServerFlags } from "../../config.ts";
import { ModelSettingsStore } from "../../models/settings/model-settings-store.ts";
import type { RunningServer } from "../../serve.ts";
import { settingsIn } from "../../settings/setting.ts";
import {
  accessSettings,
  batchSettings,
  serverSettings,
  storeSettings,
} from "../../settings/server-settings.ts";
import type { CommandContext } from "../context.ts";
import { chooseModel } from "./choose-model.ts";
import { knownModel, modelBudget } from "./open-model.ts";

/** Random bytes of the key: too many to guess. */
const keyBytes = 24;

interface PrivateServer {
  readonly server: RunningServer;
  readonly apiKey: string;
  /** The id of its model, which is loaded. */
  readonly model: string;
  readonly info: ModelInfo;
}

/**
 * Loads the model and listens. `flags` are those of `ingle serve` that the command has too. Throws ConfigError, CliError, the engine's errors, and
 * what listening throws.
 */
export async function startPrivateServer(
  flags: ServerFlags,
  context: CommandContext,
): Promise<PrivateServer> {
  const apiKey = randomBytes(keyBytes).toString("base64url");
  const config = privateConfig(flags, apiKey, context.env);
  const engine = await context.engine();
  await engine.keepMemoryTight();
  const choice = await chooseModel(config, context);
  const budget = await modelBudget(config.models, engine, config.engine.rpc);
  const { configDir } = engine.libraryPaths(context.env);
  const modelSettings = await ModelSettingsStore.read(configDir);
  const { serve } = await context.server();
  const server = await serve(config, { budget, modelSettings, logger: false });
  try {
    server.registry.add(knownModel(choice, context, config));
    const { info } = await server.registry.load(choice.id, undefined, { signal: context.shutdown.signal });
    return { server, apiKey, model: choice.id, info };
  } catch (error) {
    await server.close({ deadlineMs: 0 });
    throw error;
  }
}

/** Settings of the model apply; those of addresses, keys and what is kept do not. */
function privateConfig(flags: ServerFlags, apiKey: string, env: NodeJS.ProcessEnv): ServerConfig {
  const tables = { ...serverSettings, ...accessSettings, storeSettings, batchSettings };
  const ofOthers = new Set(settingsIn(tables).flatMap(({ variables = [] }) => variables));
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !ofOthers.has(name)));
  const own = { host: "127.0.0.1", port: 0, apiKey: [apiKey], noUi: true };
  return resolveConfig({ flags: { ...flags, ...own, responseStore: "none", batchStore: "none" }, env: kept });
}
