// `ingle app`: the page for people, in their browser. It starts a control address on this machine and no model; the page does the
// rest. A second one opens the page of the first.
import { ticketOf } from "../../access/page-tickets.ts";
import { ConfigError, ServerConfig } from "../../config.ts";
import { controlConfig, controlPortDefault } from "../../control/app-config.ts";
import type { DesktopApp } from "../../desktop-app.ts";
import { truth, wholeNumber } from "../../settings.ts";
import { modelLibrary } from "../../models/library/model-library.ts";
import { thisMachine } from "../../this-machine.ts";
import { exitCodes } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { drain } from "../drain.ts";
import { installedModels } from "../serve/installed-models.ts";
import { modelBudget } from "../model/memory-budget.ts";
import { formatColumns } from "../text.ts";
import { announceServer, runningApp } from "../remote/running-servers.ts";

export interface AppFlags {
  port?: number;
  /** False for --no-open. */
  open?: boolean;
}

/** What the environment says in the place of a flag. A test compares it with docs/cli.md. */
export const appVariables = { port: "INGLE_APP_PORT", noOpen: "INGLE_NO_OPEN" } as const;

/** Returns the exit code. Throws ConfigError, CliError and what listening throws. */
export async function appCommand(flags: AppFlags, context: CommandContext): Promise<number> {
  const { env, shutdown, stderr } = context;
  const port = portOf(flags, env);
  const opens = flags.open !== false && !says(env, appVariables.noOpen);
  const engine = await context.engine();
  const paths = engine.libraryPaths(env);
  const present = await runningApp(paths);
  if (present !== undefined) {
    await show({ ...present, note: " (it runs already)" }, { opens, context });
    return exitCodes.ok;
  }
  await engine.keepMemoryTight();
  const config = controlConfig(env, port);
  const { openDesktopApp } = await context.app();
  await using app = await openDesktopApp({
    env,
    port,
    configDir: paths.configDir,
    source: (parallel) =>
      installedModels(context, () => ({ ...config.engine, parallel: parallel() ?? config.engine.parallel })),
    library: modelLibrary({ env, isOffline: config.offline }),
    machine: () => thisMachine(env),
    budget: await modelBudget(config.models, engine),
    onWarning: (sentence) => stderr.write(`${sentence}\n`),
  });
  const { url, token } = app;
  await using _record = await announceServer(paths, { url, token, isApp: true });
  const isMoved = port !== 0 && !url.endsWith(`:${port}`);
  const note = isMoved ? ` (port ${port} was taken, so this is the next free one)` : "";
  await show({ url, token, note }, { opens, context });
  stderr.write("Press Ctrl-C to stop.\n");
  void tellStart(app, context); // never rejects
  await shutdown.requested();
  await drain({ openRequests: app.openRequests(), close: () => app.close() }, context);
  return exitCodes.ok;
}

function portOf({ port }: AppFlags, env: NodeJS.ProcessEnv): number {
  const variable = env[appVariables.port] ?? "";
  const said = port ?? (variable === "" ? controlPortDefault : wholeNumber(variable));
  const checked = ServerConfig.shape.port.safeParse(said);
  if (checked.success) return checked.data;
  const source = port === undefined ? appVariables.port : "--port";
  throw new ConfigError(source, `${source} ${checked.error.issues[0]?.message ?? "cannot be used"}.`);
}

function says(env: NodeJS.ProcessEnv, variable: string): boolean {
  const text = env[variable] ?? "";
  const said = text === "" ? false : truth(text);
  if (typeof said === "boolean") return said;
  throw new ConfigError(variable, `${variable} must be true or false.`);
}

/** Prints the address, which may be used again and again, and opens another one, which works once. */
async function show(
  { url, token, note }: { url: string; token: string; note: string },
  { opens, context }: { opens: boolean; context: CommandContext },
): Promise<void> {
  const rows = [["  address", `${url}/?token=${token}${note}`]] as const;
  context.stdout.write(`\nIngle is ready.\n\n${formatColumns(rows)}\n`);
  if (!opens) return;
  try {
    const { openPage } = await context.browser();
    await openPage(`${url}/?token=${ticketOf(token)}`);
  } catch {
    context.stderr.write("No browser could be opened here: open the address yourself.\n");
  }
}

/** Of a server that starts with the app. */
async function tellStart({ started, server }: DesktopApp, { stderr }: CommandContext): Promise<void> {
  await started;
  const { url, error, settings } = server.view();
  if (!settings.starts_with_app) return;
  if (url !== null) stderr.write(`The server runs at ${url}.\n`);
  else if (error !== null) stderr.write(`The server could not be started: ${error}\n`);
}
