// `ingle launch PROGRAM`: starts a program that uses a language model, set up for a server of Ingle's.
import os from "node:os";
import { CliError, usageError } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { exitCodes } from "../errors.ts";
import type { LaunchFlags } from "./launch-flags.ts";
import { shellWord } from "../text.ts";
import { ConfigFolder } from "./config-folder.ts";
import { findProgram } from "./find-program.ts";
import { checkFit, contextFor, type LaunchServer } from "./launch-server.ts";
import { nearestName } from "./nearest-name.ts";
import { startOwnServer } from "./own-server.ts";
import { listText } from "./program-texts.ts";
import type { ByHandProgram, Recipe, Setup, StartedProgram, UserPlaces } from "./recipe.ts";
import { recipes } from "./recipes/all-recipes.ts";
import { findRunningServer } from "./running-server.ts";
import { saveConfig } from "./saved-config.ts";
import { startProgram } from "./start-program.ts";

/** Without a name, lists the programs. Returns the program's exit code. Throws CliError, ConfigError and the engine's errors. */
export async function launchCommand(
  { name, args }: { name: string | undefined; args: readonly string[] },
  flags: LaunchFlags,
  context: CommandContext,
): Promise<number> {
  if (name === undefined) {
    context.stdout.write(await listText(context.env));
    return exitCodes.ok;
  }
  const recipe = findRecipe(name);
  if (recipe.kind === "by-hand") return await printSteps(recipe, flags, context);
  if (flags.save === true) return await save(recipe, flags, context);
  const program = await findProgram(recipe.commands, { env: context.env, platform: process.platform });
  if (program === undefined)
    throw new CliError(
      `${recipe.title} is not installed: there is no ${recipe.commands.join(" or ")} in PATH. Install it: ${recipe.install}`,
    );
  await using server = (await findRunningServer(flags, context)) ?? (await startOwnServer(flags, context));
  fit(recipe, server, flags, context);
  await using folder = await ConfigFolder.create();
  const setup: Setup = { ...toSetup(server), folder: folder.path };
  await folder.write(recipe.files?.(setup) ?? {});
  context.stderr.write(`${recipe.title} uses ${server.model} at ${server.origin}.\n`);
  return await startProgram(
    {
      program,
      args: [...(recipe.args?.(setup) ?? []), ...(args.length > 0 ? args : (recipe.argsDefault ?? []))],
      env: programEnv(recipe, setup, userPlaces(context)),
    },
    context,
  );
}

/** By its name, or by the command that starts it. Throws for an unknown one. */
export function findRecipe(name: string): Recipe {
  const all = Object.values(recipes);
  const found =
    all.find((recipe) => recipe.name === name) ?? all.find(({ commands }) => commands.includes(name));
  if (found !== undefined) return found;
  const nearest = nearestName(
    name,
    all.flatMap((recipe) => [recipe.name, ...recipe.commands]),
  );
  throw usageError(
    `Unknown program: ${name}. ${nearest === undefined ? "" : `Did you mean ${nearest}? `}\`ingle launch\` lists the programs.`,
  );
}

/** The user's environment without what would lead the program elsewhere, and with what it needs. */
function programEnv(
  { environment, unset = [] }: Pick<StartedProgram, "environment" | "unset">,
  setup: Setup,
  places: UserPlaces,
): NodeJS.ProcessEnv {
  const kept = Object.entries(places.env).filter(([variable]) => !unset.includes(variable));
  return { ...Object.fromEntries(kept), ...environment?.(setup, places) };
}

function userPlaces({ env }: CommandContext): UserPlaces {
  const home = [env["HOME"], env["USERPROFILE"]].find((folder) => folder !== undefined && folder !== "");
  return { env, home: home ?? os.homedir(), platform: process.platform };
}

function toSetup(server: LaunchServer): Omit<Setup, "folder"> {
  const { origin, apiKey, model } = server;
  return { origin, apiKey, model, contextLength: contextFor(server) };
}

function fit(
  recipe: StartedProgram,
  server: LaunchServer,
  flags: LaunchFlags,
  { stderr }: CommandContext,
): void {
  checkFit(recipe, server, {
    anyway: flags.anyway === true,
    warn: (sentence) => stderr.write(`${sentence}\n`),
  });
}

/** Settings that outlive this command need a server that does. */
async function save(recipe: StartedProgram, flags: LaunchFlags, context: CommandContext): Promise<number> {
  const { saved, title, name } = recipe;
  if (saved === undefined)
    throw new CliError(
      `Ingle cannot write the configuration of ${title}. \`ingle launch ${name}\` starts it without; docs/clients.md shows what to write.`,
    );
  await using server = await findRunningServer(flags, context);
  if (server === undefined)
    throw new CliError(
      "--save needs a server that goes on running: start one with `ingle serve`, or give its address with --url.",
    );
  fit(recipe, server, flags, context);
  const file = saved.file(userPlaces(context));
  const request = {
    file,
    content: saved.content(toSetup(server)),
    entryKey: saved.entryKey,
    now: new Date(),
  };
  const backup = await saveConfig(request);
  context.stdout.write(`Saved in ${file}.\n`);
  if (backup !== undefined) context.stdout.write(`What was there before is in ${backup}.\n`);
  return exitCodes.ok;
}

/** Of the server that is running, or of the usual one. */
async function printSteps(
  recipe: ByHandProgram,
  flags: LaunchFlags,
  context: CommandContext,
): Promise<number> {
  if (flags.save === true)
    throw new CliError(
      `${recipe.title} is set up by hand: \`ingle launch ${recipe.name}\` prints the steps.`,
    );
  await using server = await findRunningServer(flags, context);
  const setup = server === undefined ? usualSetup(flags) : toSetup(server);
  const steps = recipe.steps(setup).map((step, index) => `${index + 1}. ${step.replaceAll("\n", "\n   ")}`);
  const start = `No server is running: start one with \`ingle serve --model ${shellWord(setup.model)}\`.\n`;
  context.stdout.write(
    `${server === undefined ? start : ""}${recipe.title} cannot be set up from here. In its window:\n\n${steps.join("\n")}\n`,
  );
  return exitCodes.ok;
}

function usualSetup({ model = "MODEL", ctx = 32_768 }: LaunchFlags): Omit<Setup, "folder"> {
  return { origin: "http://127.0.0.1:1337", apiKey: "ingle", model, contextLength: ctx };
}
