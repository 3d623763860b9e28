// The server that a launched program uses, and whether its model fits the program.
import { CliError } from "../errors.ts";
import type { StartedProgram } from "./recipe.ts";

/** Disposing ends a server that was started for the program. */
export interface LaunchServer extends AsyncDisposable {
  readonly origin: string;
  readonly apiKey: string;
  readonly model: string;
  /** Null if the model is not loaded and may not be loaded by us. */
  readonly contextLength: number | null;
  /** Null if unknown. */
  readonly contextLengthTrain: number | null;
  readonly canCallTools: boolean;
  /** Whether it was started for the program. */
  readonly isOwn: boolean;
}

/** For a model whose context is unknown: enough for every program. */
const contextAssumed = 32_768;

/** The context that the program is told. */
export function contextFor({ contextLength, contextLengthTrain }: LaunchServer): number {
  return contextLength ?? Math.min(contextLengthTrain ?? contextAssumed, contextAssumed);
}

/** Why the program will not work with this model, and what to do: a sentence each. */
function misfits(
  { title, contextMin, needsTools }: Pick<StartedProgram, "title" | "contextMin" | "needsTools">,
  server: LaunchServer,
): string[] {
  const { model, contextLength, canCallTools } = server;
  const problems: string[] = [];
  if (needsTools && !canCallTools)
    problems.push(
      `${title} works by calling tools, and the chat template of ${model} has none. ` +
        "Choose another model with --model; `ingle list --json` shows which can call tools.",
    );
  if (contextLength !== null && contextLength < contextMin)
    problems.push(
      `${title} needs a context of at least ${count(contextMin)} tokens, and ${model} has ` +
        `${count(contextLength)}. ${longerContext(contextMin, server)}`,
    );
  return problems;
}

/** Throws CliError for a model that does not fit, unless the user wants it anyway. */
export function checkFit(
  program: StartedProgram,
  server: LaunchServer,
  { anyway, warn }: { anyway: boolean; warn: (sentence: string) => void },
): void {
  const problems = misfits(program, server);
  if (problems.length === 0) return;
  if (!anyway) throw new CliError(`${problems.join("\n")}\n--anyway starts ${program.title} nevertheless.`);
  for (const problem of problems) warn(problem);
}

function longerContext(
  contextMin: number,
  { model, contextLengthTrain, isOwn }: Pick<LaunchServer, "model" | "contextLengthTrain" | "isOwn">,
): string {
  if (contextLengthTrain !== null && contextLengthTrain < contextMin)
    return `It was trained for ${count(contextLengthTrain)}: choose another model with --model.`;
  if (isOwn)
    return `Add --ctx ${contextMin}; INGLE_KV_BITS=8 halves the memory that it takes, and a smaller model leaves more of it.`;
  return `Load it with more: \`ingle unload ${model}\`, then \`ingle load ${model} --ctx ${contextMin}\`.`;
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}
