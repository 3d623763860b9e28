// `ingle app`: opens the app's page in the browser. It starts a control server on this machine and loads no model; the page does the
// rest. A second `ingle app` opens the page of the first.
import path from "node:path";
import { pageTicket } from "../../access/page-tickets.ts";
import { controlConfig } from "../../control/app-config.ts";
import type { DesktopApp } from "../../desktop-app.ts";
import { asLogLines } from "../../logger.ts";
import { modelLibrary } from "../../models/library/model-library.ts";
import { appSettings } from "../../settings/server-settings.ts";
import { resolveSettings, type SettingSources } from "../../settings/resolve.ts";
import { thisMachine } from "../../this-machine.ts";
import { exitCodes } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { drain } from "../shutdown.ts";
import { installedModels } from "../serve/installed-models.ts";
import { modelBudget } from "../model/open-model.ts";
import { formatColumns } from "../text.ts";
import { announceServer, runningApp } from "../remote/running-servers.ts";

/** Returns the exit code. Throws ConfigError, CliError and what listening throws. */
export async function appCommand(
  flags: SettingSources<typeof appSettings>["flags"],
  given: CommandContext,
): Promise<number> {
  const { env, shutdown } = given;
  const { port, noOpen, chatStore } = resolveSettings(appSettings, { flags, env });
  const opens = !noOpen;
  const engine = await given.engine();
  const paths = engine.libraryPaths(env);
  const present = await runningApp(paths);
  if (present !== undefined) {
    await show({ ...present, note: " (already running)" }, { opens, context: given });
    return exitCodes.ok;
  }
  await engine.keepMemoryTight();
  const config = controlConfig(env, port);
  const context = config.logFormat === "json" ? { ...given, stderr: asLogLines(given.stderr) } : given;
  const { stderr } = context;
  const { openDesktopApp } = await context.app();
  await using app = await openDesktopApp({
    env,
    port,
    configDir: paths.configDir,
    batchFolder: path.join(paths.home, "batches"),
    chatStore,
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
  const note = isMoved ? ` (port ${port} is in use; this is the next free one)` : "";
  await show({ url, token, note }, { opens, context });
  stderr.write("Press Ctrl-C to stop.\n");
  void reportServer(app, context); // never rejects
  await shutdown.requested();
  await drain({ openRequests: app.openRequests(), close: () => app.close() }, context);
  return exitCodes.ok;
}

/** Prints an address that can be reused, and opens one that works only once. */
async function show(
  { url, token, note }: { url: string; token: string; note: string },
  { opens, context }: { opens: boolean; context: CommandContext },
): Promise<void> {
  const rows = [["  address", `${url}/?token=${token}${note}`]] as const;
  context.stdout.write(`\nIngle is ready.\n\n${formatColumns(rows)}\n`);
  if (!opens) return;
  try {
    const { openPage } = await context.browser();
    await openPage(`${url}/?token=${pageTicket(token)}`);
  } catch {
    context.stderr.write("Could not open a browser. Open the address yourself.\n");
  }
}

/** Prints the address of a server that starts with the app, or why it did not start. */
async function reportServer({ started, server }: DesktopApp, { stderr }: CommandContext): Promise<void> {
  await started;
  const { url, error, settings } = server.view();
  if (!settings.starts_with_app) return;
  if (url !== null) stderr.write(`The server is running at ${url}.\n`);
  else if (error !== null) stderr.write(`The server could not start: ${error}\n`);
}
