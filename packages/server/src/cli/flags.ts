// Converts described flags to commander's options.
import { expandTilde } from "@ingle/engine/home";
import { Command, InvalidArgumentError, Option } from "commander";
import {
  flagName,
  isPath,
  oppositeFlag,
  readText,
  settingsIn,
  type Flag,
  type Setting,
} from "../settings/setting.ts";
import { settings as ofServer, settingSections, type ServerFlags } from "../settings/settings.ts";

/** An option that keeps its description, from which docs/cli.md is generated. */
export class FlagOption extends Option {
  readonly described: Flag;

  constructor(described: Flag) {
    super(described.flag, described.help);
    this.described = described;
    this.negate = false; // `--no-auth` is a flag of that name, not the opposite of `--auth`
    if (described.choices !== undefined) this.choices(described.choices);
    if (described.isRequired === true) this.makeOptionMandatory();
  }
}

/** The opposite of a toggle: sets its value to false. Of both, the last one counts. */
class OppositeOption extends Option {
  readonly #toggle: Flag;

  constructor(toggle: Flag) {
    super(oppositeFlag(toggle));
    this.#toggle = toggle;
    this.negate = false; // as above
    this.preset(false);
    this.hideHelp(); // the toggle's help names it
  }

  override attributeName(): string {
    return flagName(this.#toggle);
  }
}

/** Adds the flags of one command; numbers outside their bounds are refused at once. */
export function addFlags(command: Command, flags: readonly Flag[]): Command {
  for (const flag of flags) addOption(command, withParser(new FlagOption(flag), flag), flag);
  return command;
}

/** Adds settings, whose bounds are checked where they are resolved: the environment may give them, too. */
export function addSettings(command: Command, settings: readonly Setting[], section?: string): Command {
  for (const setting of settings) {
    if (setting.isVariableOnly === true) continue;
    const { min: _min, max: _max, ...unbounded } = setting;
    const option = withParser(new FlagOption(setting), unbounded);
    addOption(command, section === undefined ? option : option.helpGroup(`${section}:`), setting);
  }
  return command;
}

/** Adds the flags of `ingle serve`. */
export function addServerSettings(command: Command, { hasVariant }: { hasVariant: boolean }): Command {
  for (const [title, table] of settingSections) {
    const shown = settingsIn(table).filter((setting) => hasVariant || setting !== ofServer.variant);
    addSettings(command, shown, title);
  }
  return command;
}

/** Parses flags of `ingle serve` that another command passes on. Throws commander's errors, after printing them as `asker` does. */
export function parseServeFlags(args: readonly string[], asker: Command): ServerFlags {
  const serve = addServerSettings(new Command("serve"), { hasVariant: true }).copyInheritedSettings(asker);
  return serve.parse([...args], { from: "user" }).opts<ServerFlags>();
}

function addOption(command: Command, option: Option, flag: Flag): void {
  command.addOption(option);
  if (flag.hasOpposite === true) command.addOption(new OppositeOption(flag));
}

function withParser(option: Option, flag: Flag): Option {
  const isCommaSeparated = flag.kind === "list" && !option.variadic;
  const isNumber = flag.kind === "integer" || flag.kind === "decimal";
  if (flag.kind === "text" && isPath(flag)) option.argParser(expandTilde);
  if (isCommaSeparated) option.argParser((text) => readText("list", text));
  return isNumber ? option.argParser((text) => parseNumber(text, flag)) : option;
}

function parseNumber(text: string, { kind, min, max }: Flag): number {
  const value = readText(kind, text);
  const number = kind === "integer" ? "a whole number" : "a number";
  if (typeof value !== "number") throw new InvalidArgumentError(`It must be ${number}.`);
  if (min !== undefined && value < min)
    throw new InvalidArgumentError(`It must be ${number} of at least ${min}.`);
  if (max !== undefined && value > max) throw new InvalidArgumentError(`It must be at most ${max}.`);
  return value;
}

/** The help, with choices, default and variables where there are any: "(default: 256; env: INGLE_WAITING_MAX)". */
export function flagHelp({ help, choices, variables = [], ...flag }: Flag): string {
  const value = flagDefault(flag)?.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1");
  const notes = [
    flag.hasOpposite === true ? `opposite: ${oppositeFlag(flag)}` : "",
    choices === undefined ? "" : `choices: ${choices.join(", ")}`,
    value === undefined ? "" : `default: ${value.replaceAll("`", "")}`,
    variables.length === 0 ? "" : `env: ${variables.join(", ")}`,
  ].filter((note) => note !== "");
  return notes.length === 0 ? help : `${help} (${notes.join("; ")})`;
}

/** The default in Markdown; undefined if it is obvious: off, or none. */
export function flagDefault(
  flag: Pick<Flag, "default" | "defaultText"> & Pick<Setting, "isPerVariant">,
): string | undefined {
  if (flag.isPerVariant === true) return "by variant";
  if (flag.defaultText !== undefined) return flag.defaultText;
  return typeof flag.default === "number" ? flag.default.toLocaleString("en-US") : flag.default;
}
