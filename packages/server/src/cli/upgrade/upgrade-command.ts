// `ingle upgrade`: prints the command that upgrades this Ingle. Only with --check, it asks the npm registry, through npm.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ingleVersion } from "../../this-package.ts";
import type { CommandContext } from "../context.ts";
import { CliError, exitCodes } from "../errors.ts";
import type { UpgradeFlags } from "../command-flags.ts";
import { findInstallation } from "./installation.ts";

/** Time limit: npm retries an unresponsive registry for longer than anyone would wait. */
const registryMaxMs = 30_000;

/** Returns the exit code. Throws CliError if the registry cannot be asked. */
export async function upgradeCommand(
  { check = false }: UpgradeFlags,
  context: CommandContext,
  script: string = process.argv[1] ?? "",
): Promise<number> {
  const { by, packageName, command, advice } = findInstallation(script);
  const { stdout } = context;
  const present = ingleVersion();
  stdout.write(`Ingle ${present} comes from ${by}.\n`);
  if (check) {
    const newest = await newestVersion(packageName, context);
    stdout.write(newest === present ? "It is the newest version.\n" : `The newest version is ${newest}.\n`);
    if (newest === present) return exitCodes.ok;
  }
  stdout.write(command === undefined ? `${advice ?? ""}\n` : `To upgrade it: ${command}\n`);
  return exitCodes.ok;
}

async function newestVersion(name: string, { env, shutdown }: CommandContext): Promise<string> {
  const options = {
    env,
    signal: shutdown.signal,
    timeout: registryMaxMs,
    shell: process.platform === "win32",
  };
  try {
    const { stdout } = await promisify(execFile)("npm", ["view", name, "version"], options);
    return stdout.trim();
  } catch (error) {
    shutdown.signal.throwIfAborted();
    const why = /^npm (?:ERR!|error) (?!code)(.+)$/m.exec(error instanceof Error ? error.message : "")?.[1];
    throw new CliError(
      `npm could not find the newest version of ${name}${why === undefined ? "" : `: ${why}`}.`,
      { cause: error },
    );
  }
}
