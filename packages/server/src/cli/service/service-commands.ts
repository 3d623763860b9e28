// `ingle service install`, `remove`, `status` and `logs`: a server of this user that the system starts and restarts.
import { chmod, mkdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { needsKey } from "../../access/keys.ts";
import { resolveConfig, type ServerConfig, type ServerFlags } from "../../config.ts";
import { readableLines } from "../../logger.ts";
import type { CommandContext } from "../context.ts";
import { runProgram } from "../deploy/run-program.ts";
import { CliError, exitCodes } from "../errors.ts";
import { shellWord } from "../text.ts";
import { findInstallation } from "../upgrade/installation.ts";
import { launchd } from "./launchd.ts";
import {
  thisHost,
  type Host,
  type ManagerCall,
  type ProgramCall,
  type ServiceManager,
} from "./service-manager.ts";
import type { LogFlags } from "../command-flags.ts";
import { systemd } from "./systemd.ts";

/** Permissions for the owner only, because the file may contain keys. */
const fileMode = 0o600;
/** Time for unloading models after the last request has ended. */
const unloadSeconds = 15;

/** How often, and how many times, a manager is polled until a stopped service has ended. */
const endPollMs = 500;
const endTriesMax = 120;

/** Variables of this shell that are copied into the service's file: without them, the service would look for models elsewhere. */
const kept =
  /^(?:INGLE_|HF_|OTEL_|XDG_(?:CONFIG|DATA|CACHE)_HOME$|NODE_EXTRA_CA_CERTS$|(?:HTTPS?|ALL|NO)_PROXY$)/i;

/** Returns the exit code. `flags` are the parsed `args`. Throws ConfigError and CliError before anything is written. */
export async function installService(
  { args, flags }: { args: readonly string[]; flags: ServerFlags },
  context: CommandContext,
  host: Host = thisHost(context.env),
): Promise<number> {
  const manager = chooseManager(host, args);
  refuseTemporary(host);
  const env = keptVariables(context.env);
  const config = resolveConfig({ flags, env });
  const format = config.logFormat === undefined ? ["--log-format", "json"] : [];
  const text = manager.text({
    command: [stablePath(host.node), host.script, "serve", ...format, ...args],
    env,
    folder: host.folder,
    stopSeconds: Math.ceil(config.limits.drainDeadlineMs / 1000) + unloadSeconds,
  });
  await mkdir(path.dirname(manager.file), { recursive: true });
  await writeFile(manager.file, text, { mode: fileMode });
  await chmod(manager.file, fileMode); // an earlier file keeps its permissions
  context.stdout.write(`Wrote ${manager.file}.\n${envText(env)}`);
  await start(manager, config, context);
  return exitCodes.ok;
}

async function start(manager: ServiceManager, config: ServerConfig, context: CommandContext): Promise<void> {
  const { stdout } = context;
  if (!(await isThere(manager, context))) {
    const calls = manager.start.flatMap((each) =>
      "untilFails" in each ? [] : [`  ${commandLine("mayFail" in each ? each.mayFail : each)}\n`],
    );
    stdout.write(
      `${manager.name} is not running for this user. Where it runs, start the service with\n${calls.join("")}`,
    );
    return;
  }
  await runAll(manager.start, context);
  const key = needsKey(config) ? " with a key" : "";
  stdout.write(
    `The service is started, and starts again at each login and after a failure. ${manager.note}\n` +
      `It serves http://${config.host}:${config.port}${key} once its model is loaded: \`ingle service logs --follow\` shows its progress.\n`,
  );
}

/** Stops the service and removes its file. Returns the exit code. */
export async function removeService(
  context: CommandContext,
  host: Host = thisHost(context.env),
): Promise<number> {
  const manager = chooseManager(host);
  await refuseMissing(manager);
  const hasManager = await isThere(manager, context);
  if (hasManager) await runAll(manager.stop, context);
  await rm(manager.file);
  if (hasManager) await runAll(manager.forget, context);
  context.stdout.write(`Removed ${manager.file}. Models and settings are still there.\n`);
  return exitCodes.ok;
}

/** Prints what the manager says about the service. Returns 0 while it runs, else 1. */
export async function serviceStatus(
  context: CommandContext,
  host: Host = thisHost(context.env),
): Promise<number> {
  const manager = chooseManager(host);
  await refuseMissing(manager);
  context.stdout.write(`Installed in ${manager.file}.\n`);
  await refuseWithout(manager, context);
  const code = await call(manager.status, context, (line) => context.stdout.write(`${line}\n`));
  return code === 0 ? exitCodes.ok : exitCodes.failure;
}

/** Prints the log, readable unless `json` is set. Returns the exit code. */
export async function serviceLogs(
  { lines = 100, follow = false, json = false }: LogFlags,
  context: CommandContext,
  host: Host = thisHost(context.env),
): Promise<number> {
  const manager = chooseManager(host);
  await refuseMissing(manager);
  const readable = json ? (line: string) => `${line}\n` : await readableLines(context.stdout.isTTY === true);
  const { stdout } = context;
  const code = await call(manager.logs({ lines, follow }), context, (line) => stdout.write(readable(line)));
  if (code !== 0) throw new CliError(`The log of the service could not be read. It is in ${manager.log}.`);
  return exitCodes.ok;
}

/** Throws CliError if there is no supported service manager. */
function chooseManager(host: Host, args: readonly string[] = []): ServiceManager {
  if (host.platform === "linux") return systemd(host);
  if (host.platform === "darwin") return launchd(host);
  const command = [host.node, host.script, "serve", ...args].map((word) => `\\"${word}\\"`).join(" ");
  const task =
    host.platform === "win32"
      ? ` Let the task scheduler start it at each login: schtasks /Create /TN Ingle /SC ONLOGON /TR "${command}"`
      : " Start `ingle serve` with the service manager of this system.";
  throw new CliError(
    `ingle service works with systemd and launchd, which ${host.platform} does not have.${task}`,
  );
}

function refuseTemporary({ script }: Host): void {
  const { by, isTemporary, packageName } = findInstallation(script);
  if (isTemporary !== true) return;
  throw new CliError(
    `This Ingle runs from the cache of ${by}, which may be emptied at any time. ` +
      `Install it (\`npm install --global ${packageName}\`) and run \`ingle service install\` again.`,
  );
}

async function refuseMissing({ file }: ServiceManager): Promise<void> {
  if ((await stat(file).catch(() => undefined)) !== undefined) return;
  throw new CliError(`No service is installed: there is no ${file}. \`ingle service install\` writes it.`);
}

async function refuseWithout(manager: ServiceManager, context: CommandContext): Promise<void> {
  if (!(await isThere(manager, context)))
    throw new CliError(`${manager.name} is not running for this user, so the service is not running either.`);
}

/** Homebrew's folder of a version is replaced by the next one; its link `opt` stays. */
function stablePath(program: string): string {
  return program.replace(/\/Cellar\/([^/]+)\/[^/]+\//, "/opt/$1/");
}

function keptVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(env).flatMap(([name, value]) =>
    kept.test(name) && value !== undefined && value !== "" ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

function envText(env: Readonly<Record<string, string>>): string {
  const names = Object.keys(env);
  return names.length === 0 ? "" : `It contains these variables of this shell: ${names.join(", ")}.\n`;
}

async function isThere({ probe }: ServiceManager, context: CommandContext): Promise<boolean> {
  return (await call(probe, context, () => {})) === 0;
}

/** Throws CliError with the last line of the first call that fails. */
async function runAll(calls: readonly ManagerCall[], context: CommandContext): Promise<void> {
  for (const each of calls) {
    if ("untilFails" in each) await untilFails(each.untilFails, context);
    else if ("mayFail" in each) await call(each.mayFail, context, () => {});
    else await runOne(each, context);
  }
}

async function runOne(words: ProgramCall, context: CommandContext): Promise<void> {
  let last = "it printed nothing";
  const code = await call(words, context, (line) => (last = line));
  if (code !== 0) throw new CliError(`\`${commandLine(words)}\` failed with ${code}: ${last}`);
}

/** Gives up without an error: the next call reports what is wrong. */
async function untilFails(words: ProgramCall, context: CommandContext): Promise<void> {
  for (let tries = 0; tries < endTriesMax && (await call(words, context, () => {})) === 0; tries += 1)
    await pause(endPollMs);
}

/** Its exit code; "nothing" for a missing program. */
async function call(
  [program, ...args]: ProgramCall,
  { env, shutdown }: CommandContext,
  onLine: (line: string) => void,
): Promise<number | string> {
  const { code } = await runProgram(program, args, { cwd: "/", env, signal: shutdown.signal, onLine });
  return code;
}

function commandLine(words: ProgramCall): string {
  return words.map(shellWord).join(" ");
}
