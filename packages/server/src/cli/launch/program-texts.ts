// The texts of `ingle launch` about programs: the list of all, and the details of one.
import { formatColumns, formatTable, shellWord } from "../text.ts";
import { findProgram } from "./find-program.ts";
import type { Recipe } from "./recipe.ts";
import { recipes } from "./recipes/all-recipes.ts";

/** Every program, and whether it is there. */
export async function listText(env: NodeJS.ProcessEnv): Promise<string> {
  const rows = await Promise.all(
    Object.values(recipes).map(async (recipe) => {
      const program = await findProgram(recipe.commands, { env, platform: process.platform });
      return [recipe.name, recipe.title, program === undefined ? "no" : "yes", startText(recipe, program)];
    }),
  );
  return (
    formatTable([["NAME", "PROGRAM", "INSTALLED", "START"], ...rows]) +
    "\nArguments for the program follow --, as in: ingle launch codex -- exec 'Explain this project.'\n"
  );
}

function startText(recipe: Recipe, program: string | undefined): string {
  if (recipe.kind === "by-hand") return `by hand: ingle launch ${recipe.name} prints the steps`;
  return program === undefined ? `install it: ${recipe.install}` : `ingle launch ${recipe.name}`;
}

/** What `ingle launch PROGRAM --help` adds to the flags. */
export function helpText(recipe: Recipe): string {
  if (recipe.kind === "by-hand")
    return `\n${recipe.title} is set up by hand: \`ingle launch ${recipe.name}\` prints the steps.\n`;
  const sample = {
    origin: "ADDRESS",
    apiKey: "KEY",
    model: "MODEL",
    contextLength: recipe.contextMin,
    folder: "FOLDER",
  };
  const places = { home: "~", env: {}, platform: process.platform };
  const listed = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));
  const args = [...(recipe.args?.(sample) ?? []), ...(recipe.argsDefault ?? [])];
  const rows: [string, string][] = [
    ["  command", listed(recipe.commands)],
    ["  install", recipe.install],
    ["  context", `at least ${recipe.contextMin.toLocaleString("en-US")} tokens`],
    ["  tools", recipe.needsTools ? "the model must be able to call them" : "not needed"],
    ["  variables", listed(Object.keys(recipe.environment?.(sample, places) ?? {}))],
    ["  unset", listed(recipe.unset ?? [])],
    ["  arguments", args.length === 0 ? "none" : args.map(shellWord).join(" ")],
    ["  files", listed(Object.keys(recipe.files?.(sample) ?? {}))],
    ["  --save", recipe.saved === undefined ? "not possible" : recipe.saved.file(places)],
    ["  facts from", recipe.source],
  ];
  return `\n${recipe.title}:\n${formatColumns(rows)}`;
}
