// `ingle serve`: listens, loads the model while the server already responds with "loading", prints how to reach it, and runs
// until it is stopped.
import { createHash } from "node:crypto";
import path from "node:path";
import { needsKey } from "../../access/keys.ts";
import { resolveConfig, type ServerConfig, type ServerFlags } from "../../config.ts";
import type { KnownModel, ModelLoader, PrepareOptions } from "../../models/catalog/known-model.ts";
import { modelLibrary } from "../../models/library/model-library.ts";
import { ModelSettingsStore } from "../../models/settings/model-settings-store.ts";
import { loadSettings } from "../../models/settings/settled-model.ts";
import { asLogLines, logLine } from "../../logger.ts";
import { thisMachine } from "../../this-machine.ts";
import type { RunningServer } from "../../serve.ts";
import { variants } from "../../variants.ts";
import { exitCodes } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { drain } from "../shutdown.ts";
import { installedModels } from "./installed-models.ts";
import { chooseModel } from "../model/choose-model.ts";
import { knownModel, modelBudget } from "../model/open-model.ts";
import { curlLine, formatBytes, formatColumns } from "../text.ts";
import { announceServer } from "../remote/running-servers.ts";
import { isLoopback } from "../../access/ip-address.ts";

/** Returns the exit code. Throws ConfigError, CliError and what loading or listening throws. */
export async function serveCommand(flags: ServerFlags, given: CommandContext): Promise<number> {
  const { env, shutdown, stdout } = given;
  const config = resolveConfig({ flags, env });
  config.logFormat ??= given.logFormat;
  const isJson = config.logFormat === "json";
  const context = isJson ? { ...given, stderr: asLogLines(given.stderr) } : given;
  const engine = await context.engine();
  await engine.keepMemoryTight();
  const choice = await chooseModel(config, context);
  const budget = await modelBudget(config.models, engine, config.engine.rpc);
  const aliases = config.model === undefined ? [] : [config.model];
  const about = await engine.projectorTraits(config.engine.mmproj);
  const reportsKvBlocks = config.kvEvents !== undefined;
  const installedAdapters =
    choice.kind === "file" ? await engine.findInstalledAdapters(choice.path, { env }) : [];
  const paths = engine.libraryPaths(env);
  const modelSettings = await ModelSettingsStore.follow(paths.configDir, {
    isLenient: false,
    onFailure: (error) => context.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`),
    signal: shutdown.signal,
  });
  const known = knownModel(choice, context, {
    ...config,
    aliases,
    about,
    installedAdapters,
    reportsKvBlocks,
  });
  const settings = loadSettings(modelSettings.settingsFor([known.id, ...aliases]));
  await using model = startLoading(known, { budget, settings, signal: shutdown.signal });
  const { serve } = await context.server();
  const servesOthers = variants[config.variant].modelRule !== "given";
  await using server = await serve(config, {
    library: modelLibrary({ env, isOffline: config.offline }),
    modelSettings,
    machine: () => thisMachine(env),
    source: servesOthers ? installedModels(context, () => config.engine, { reportsKvBlocks }) : undefined,
    budget,
    usageFile: usageFile(paths.home, config),
    batchFolder: path.join(paths.home, "batches"),
  });
  server.registry.add(model);
  const { info } = await server.registry.load(choice.id);
  const { url, managementToken: token } = server;
  await using _record = await announceServer(paths, { url, id: choice.id, token });
  const { id } = choice;
  if (isJson) given.stderr.write(logLine("ready", { address: url, model: id }));
  stdout.write(servingText(config, server, { id, kvBytesPerToken: info.kvBytesPerToken }));
  await shutdown.requested();
  const { running, waiting } = server.registry.stats();
  await drain({ openRequests: running + waiting, close: () => server.close() }, context);
  return exitCodes.ok;
}

/** One file for each key file, so that a restart with it goes on counting. */
function usageFile(home: string, { keys }: ServerConfig): string | undefined {
  if (keys === undefined) return undefined;
  const name = createHash("sha256").update(path.resolve(keys)).digest("hex").slice(0, usageNameLength);
  return path.join(home, "key-usage", `${name}.json`);
}

const usageNameLength = 16;

/**
 * Starts to load the model, on other threads, while the server's code is still being read; the server's first load adopts that.
 * Disposing aborts a load that was not adopted, so that a server that cannot listen fails without waiting for a download.
 */
function startLoading(
  model: KnownModel,
  { budget, settings, signal: stop }: PrepareOptions,
): KnownModel & AsyncDisposable {
  let report: (fraction: number) => void = () => {};
  const abandoned = new AbortController();
  const signal = AbortSignal.any([stop, abandoned.signal]);
  const prepared = model.prepare({ budget, settings, signal });
  const loading = prepared.then(({ load }) => load((fraction) => report(fraction), signal));
  loading.catch(() => {}); // the load that adopts it reports the error
  let isAdopted = false;
  const load: ModelLoader = async (onProgress) => {
    isAdopted = true;
    report = onProgress;
    return await loading;
  };
  return {
    ...model,
    prepare: async (later) => {
      const isOther = isAdopted || JSON.stringify(later.settings) !== JSON.stringify(settings);
      return isOther ? await model.prepare(later) : { ...(await prepared), load };
    },
    [Symbol.asyncDispose]: async () => {
      if (isAdopted) return;
      abandoned.abort();
      const loaded = await loading.catch(() => undefined);
      await loaded?.[Symbol.asyncDispose]();
    },
  };
}

function servingText(
  config: ServerConfig,
  server: RunningServer,
  { id, kvBytesPerToken }: { id: string; kvBytesPerToken: number },
): string {
  const rows: [string, string][] = [
    ["  address", server.url + portNote(config, server)],
    ["  model", id],
  ];
  if (kvBytesPerToken > 0)
    rows.push(["  KV cache", `${formatBytes(1000 * kvBytesPerToken)} for 1,000 tokens`]);
  if (server.kvEvents !== undefined)
    rows.push(["  KV events", `on port ${server.kvEvents.port} of ${config.kvEvents?.publish.host ?? ""}`]);
  if (!isLoopback(config.host)) rows.push(["  open to", `other machines, on ${config.host}:${server.port}`]);
  const keyed = needsKey(config);
  return `\nIngle is ready.\n\n${formatColumns(rows)}\n${formatColumns([
    config.noUi ? ["API reference", `${server.url}/docs`] : ["Chat in a browser", `${server.url}/`],
    ["Ask from a shell", curlLine(server.url, id, { keyed, between: " " })],
    ["Stop", "press Ctrl-C"],
  ])}`;
}

function portNote(config: ServerConfig, server: RunningServer): string {
  if (config.port === 0 || config.port === server.port) return "";
  return ` (port ${config.port} is in use; this is the next free one)`;
}
