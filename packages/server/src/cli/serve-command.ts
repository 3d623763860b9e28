// `ingle serve`: listens, loads the model while the server already answers "loading", prints how to reach it, and
// stays until it is told to stop.
import { isLoopback, resolveConfig, type ServerConfig, type ServerFlags } from "../config.ts";
import { modelLibrary } from "../models/model-library.ts";
import type { RunningServer } from "../serve.ts";
import { variants } from "../variants.ts";
import { exitCodes } from "./cli-error.ts";
import type { CommandContext } from "./context.ts";
import { installedModels } from "./installed-models.ts";
import { modelBudget } from "./memory-budget.ts";
import { chooseModel } from "./model-argument.ts";
import { knownModel } from "./open-model.ts";
import { curlLine, formatColumns } from "./print.ts";
import { announceServer } from "./running-servers.ts";

/** Returns the exit code. Throws ConfigError, CliError and what loading or listening throws. */
export async function serveCommand(flags: ServerFlags, context: CommandContext): Promise<number> {
  const { env, shutdown, stdout } = context;
  const config = resolveConfig({ flags, env });
  const [{ serve }, engine] = await Promise.all([context.server(), context.engine()]);
  const choice = await chooseModel(config, context);
  const servesOthers = variants[config.variant].modelRule !== "given";
  await using server = await serve(config, {
    library: modelLibrary({ env, isOffline: config.offline }),
    source: servesOthers ? installedModels(context, config) : undefined,
    budget: await modelBudget(config.models, engine),
  });
  const aliases = config.model === undefined ? [] : [config.model];
  server.registry.add(knownModel(choice, context, { ...config, aliases }));
  await server.registry.load(choice.id);
  await using _record = await announceServer(engine.libraryPaths(env), { url: server.url, id: choice.id });
  stdout.write(servingText(config, server, choice.id));
  await shutdown.requested();
  await drain(server, context);
  return exitCodes.ok;
}

/** Lets running requests end. A second signal leaves the process meanwhile (signals.ts). */
async function drain(server: RunningServer, { stderr }: CommandContext): Promise<void> {
  const { running, waiting } = server.registry.figures();
  const open = running + waiting;
  const what = open === 1 ? "1 request still runs" : `${open} requests still run`;
  stderr.write(open === 0 ? "\nStopping.\n" : `\nStopping: ${what}. Ctrl-C again stops at once.\n`);
  await server.close();
  stderr.write("Stopped.\n");
}

function servingText(config: ServerConfig, server: RunningServer, modelId: string): string {
  const rows: [string, string][] = [
    ["  address", server.url + portNote(config, server)],
    ["  model", modelId],
  ];
  if (!isLoopback(config.host)) rows.push(["  open to", `other machines, on ${config.host}:${server.port}`]);
  return [
    "\nIngle is ready.\n",
    formatColumns(rows),
    `  ${curlLine(server.url, modelId, { keyed: config.keyDigests.length > 0 })}\n`,
    "Press Ctrl-C to stop.\n",
  ].join("\n");
}

function portNote(config: ServerConfig, server: RunningServer): string {
  if (config.port === 0 || config.port === server.port) return "";
  return ` (port ${config.port} was taken, so this is the next free one)`;
}
