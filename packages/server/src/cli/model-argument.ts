// What `--model` may be: a GGUF file of the user's own, or the id of the starter model. Used by serve, run and chat.
import { stat } from "node:fs/promises";
import path from "node:path";
import { CliError } from "./cli-error.ts";

/** A model that can be opened. `id` is its name in requests and answers. */
export type ModelChoice = { kind: "file"; id: string; file: string } | { kind: "starter"; id: string };

/** Turns the argument into a choice; none means the starter model. Throws CliError with what is possible instead. */
export async function chooseModel(argument: string | undefined, starterId: string): Promise<ModelChoice> {
  if (argument === undefined || argument === starterId) return { kind: "starter", id: starterId };
  const file = path.resolve(argument);
  const id = idOfFile(file);
  const stats = await stat(file).catch(() => undefined);
  if (stats?.isFile() === true && id !== "") return { kind: "file", id, file };
  throw new CliError(
    refusal(argument, { isFile: stats?.isFile() === true, exists: stats !== undefined, starterId }),
  );
}

/** The file's name without ".gguf"; empty when it does not end so. */
function idOfFile(file: string): string {
  const { name, ext } = path.parse(file);
  return ext.toLowerCase() === ".gguf" ? name : "";
}

function refusal(argument: string, found: { isFile: boolean; exists: boolean; starterId: string }): string {
  const possible =
    `--model takes the path of a .gguf file or "${found.starterId}", ` +
    "the starter model that is also used when --model is left out.";
  if (found.isFile) return `${argument} is not named like a GGUF file. ${possible}`;
  if (found.exists) return `${argument} is a folder, not a model file. ${possible}`;
  const looksLikePath = argument.toLowerCase().endsWith(".gguf") || /^[./~\\]/.test(argument);
  return looksLikePath
    ? `There is no file ${path.resolve(argument)}. ${possible}`
    : `There is no model called "${argument}" here. ${possible}`;
}
