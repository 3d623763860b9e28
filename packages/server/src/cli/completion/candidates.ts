// Completes the end of a command line: finds commands, flags, their values, and models in commander's program.
import type { Argument, Command, Option } from "commander";

export interface Candidate {
  readonly value: string;
  /** One phrase; empty for a model or a choice. */
  readonly help: string;
}

/** Names of the installed models. */
type ModelNames = () => Promise<readonly string[]>;

/** The state after the words so far. */
interface Place {
  command: Command;
  /** The flag whose value comes next. */
  pending: Option | undefined;
  operands: number;
  /** After `--`, nothing is a flag. */
  isPlain: boolean;
}

/** `words` follow the program's name; the last one is being typed. Returns nothing where a file is expected: shells complete those. */
export async function candidatesFor(
  program: Command,
  words: readonly string[],
  models: ModelNames,
): Promise<Candidate[]> {
  const typed = words.at(-1) ?? "";
  const place: Place = { command: program, pending: undefined, operands: 0, isPlain: false };
  for (const word of words.slice(0, -1)) step(place, word, program);
  const all = await allAt(place, typed, models);
  return all.filter(({ value }) => value.startsWith(typed));
}

function step(place: Place, word: string, program: Command): void {
  const { command, pending, isPlain } = place;
  const isFlag = word.startsWith("-") && !isPlain;
  if (pending !== undefined && !isFlag) {
    if (!pending.variadic) place.pending = undefined;
    return;
  }
  place.pending = undefined;
  if (word === "--" && !isPlain) {
    if (takesServeFlags(command)) place.command = findServe(program);
    else place.isPlain = true;
  } else if (isFlag) {
    const option = flagsAt(command, program).find(({ long, short }) => word === long || word === short);
    if (option !== undefined && !option.isBoolean()) place.pending = option;
  } else {
    const inner = command.commands.find((each) => each.name() === word);
    if (inner !== undefined && place.operands === 0) place.command = inner;
    else if (command !== program || word !== "help") place.operands += 1;
  }
}

async function allAt(
  { command, pending, operands, isPlain }: Place,
  typed: string,
  models: ModelNames,
): Promise<Candidate[]> {
  const flags = flagsAt(command, rootCommand(command));
  const isFlag = typed.startsWith("-") && !isPlain;
  const [name = "", value] = typed.split("=", 2);
  if (isFlag && value !== undefined) {
    const option = flags.find(({ long }) => long === name);
    const values = option === undefined ? [] : await completeValues(option, models);
    return values.map((each) => ({ value: `${name}=${each}`, help: "" }));
  }
  if (isFlag) return flagCandidates(flags);
  if (pending !== undefined) return plain(await completeValues(pending, models));
  const inner = command.createHelp().visibleCommands(command);
  if (operands === 0 && inner.length > 0)
    return inner.map((each) => ({ value: each.name(), help: each.description() }));
  const { registeredArguments } = command;
  const argument = registeredArguments[Math.min(operands, registeredArguments.length - 1)];
  if (argument !== undefined && (argument.variadic || operands < registeredArguments.length))
    return takesServeFlags(command) ? flagCandidates(flags) : plain(await completeValues(argument, models));
  return isPlain ? [] : flagCandidates(flags);
}

/** Flags as in the command's help; for a command that only passes flags on to `ingle serve`, those. */
function flagsAt(command: Command, program: Command): Option[] {
  const own = command.createHelp().visibleOptions(command);
  return takesServeFlags(command) && command.options.length === 0
    ? [...flagsAt(findServe(program), program), ...own]
    : own;
}

function takesServeFlags({ registeredArguments }: Command): boolean {
  return registeredArguments.some((argument) => argument.name() === "serve-flags");
}

function findServe(program: Command): Command {
  return program.commands.find((command) => command.name() === "serve") ?? program;
}

function rootCommand(command: Command): Command {
  return command.parent === null ? command : rootCommand(command.parent);
}

function flagCandidates(flags: readonly Option[]): Candidate[] {
  return flags.flatMap(({ long, description }) =>
    typeof long === "string" ? [{ value: long, help: description }] : [],
  );
}

/** The known values: choices, and installed models for `<model>`, `<models...>` and `<id...>`. */
async function completeValues(taker: Option | Argument, models: ModelNames): Promise<readonly string[]> {
  if (taker.argChoices !== undefined) return taker.argChoices;
  const placeholder = "flags" in taker ? (/[<[]([\w-]+)/.exec(taker.flags)?.[1] ?? "") : taker.name();
  return ["model", "models", "id"].includes(placeholder) ? await models() : [];
}

function plain(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value, help: "" }));
}
