// The generated parts of pages and declarations, made from the flags of the command line and the tables of errors and options. They stand between `<!-- generated: what -->` and `<!-- end -->`. `pnpm reference` writes them; a step of check.ts compares
// them.
import { EventEmitter } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { errorHelp } from "../packages/protocol/src/error-help.ts";
import { isWireErrorCode, wireErrors } from "../packages/protocol/src/errors.ts";
import { flagDefault, FlagOption } from "../packages/server/src/cli/flags.ts";
import { processContext } from "../packages/server/src/cli/main.ts";
import { ingleProgram } from "../packages/server/src/cli/program.ts";
import { Shutdown } from "../packages/server/src/cli/shutdown.ts";
import {
  oppositeFlag,
  settingsIn,
  type Flag,
  type Setting,
} from "../packages/server/src/settings/setting.ts";
import { settingSections } from "../packages/server/src/settings/settings.ts";
import { variants, type ModelRule, type OnLoading } from "../packages/server/src/variants.ts";
import { root } from "./files.ts";
import {
  fieldList,
  fieldTable,
  keyList,
  nativeMembers,
  parameterTable,
  valueMembers,
  markdownTable,
} from "./option-reference.ts";

type Program = ReturnType<typeof ingleProgram>;

/** The generator of each part, by the first word of its marker; the rest of the marker is the argument. */
const makers: Readonly<Record<string, (argument: string) => string>> = {
  "commands of": () => commandTable(program()),
  "flags of": (command) => flagTable(documentedFlags(commandAt(program(), command.split(" ").slice(1)))),
  "settings of": () =>
    settingSections.map(([title, table]) => `**${title}**\n\n${flagTable(settingsIn(table))}`).join("\n\n"),
  "variants of": () => variantTable(),
  "codes of": () => errorTable(),
  "fields of": (group) => fieldTable(group.replace(" options", "")),
  "names of": (group) => fieldList(group.replace(" options", "")),
  "keys of": keyList,
  "parameters of": parameterTable,
  "members of": (what) => (what === "NativeSampling" ? nativeMembers() : valueMembers()),
};

const pages = [
  "docs/cli.md",
  "docs/errors.md",
  "docs/http-api.md",
  "docs/library.md",
  "docs/llama-server.md",
  "docs/models.md",
  "packages/engine-native/seam/engine.d.ts",
  "packages/generation-options/src/option-values.ts",
] as const;

/** Every page whose generated parts are out of date, as `path: sentence`. */
export async function referenceProblems(): Promise<string[]> {
  const stale = await Promise.all(
    pages.map(async (page) => {
      const text = await readFile(path.join(root, page), "utf8");
      return regenerate(text) === text ? [] : [`${page}: is out of date; run npx --yes pnpm@12 reference`];
    }),
  );
  return stale.flat();
}

/** The page with its generated parts regenerated. Throws for an unknown marker. */
export function regenerate(text: string): string {
  return text.replaceAll(
    /(<!-- generated: (\w+ of)(?: ([^>]*?))? -->\n)[\s\S]*?((?:^ *\/\/ )?<!-- end -->)/gm,
    (_all, begin: string, what: string, argument: string | undefined, end: string) => {
      const make = makers[what];
      if (make === undefined) throw new Error(`Nothing is generated for "${what}".`);
      return `${begin}\n${make(argument ?? "")}\n\n${end}`;
    },
  );
}

function program(): Program {
  const now = (): number => 0;
  using shutdown = new Shutdown({ source: new EventEmitter(), exit: () => {}, now });
  return ingleProgram(processContext(shutdown), () => {});
}

function commandAt(parent: Program, names: readonly string[]): Program {
  const [name, ...rest] = names;
  if (name === undefined) return parent;
  const command = parent.commands.find((each) => each.name() === name);
  if (command === undefined) throw new Error(`ingle has no command "${name}".`);
  return commandAt(command, rest);
}

function documentedFlags(command: Program): Flag[] {
  return command.options.flatMap((option) => (option instanceof FlagOption ? [option.described] : []));
}

/** One row for each command that does something, under the heading where it is explained. */
function commandTable(parent: Program): string {
  const rows = listCommands(parent, "ingle").map(([usage, name, command]) => [
    `[\`${usage}\`](#${name.replaceAll(" ", "-")})`,
    command.description(),
  ]);
  return markdownTable(["command", "what it does"], rows);
}

function listCommands(command: Program, name: string): [usage: string, name: string, command: Program][] {
  if (command.commands.length > 0)
    return command.commands.flatMap((each) => listCommands(each, `${name} ${each.name()}`));
  const words = command.registeredArguments.map((each) => {
    const word = `${each.name()}${each.variadic ? "..." : ""}`;
    return each.required ? ` <${word}>` : ` [${word}]`;
  });
  return [[name + words.join(""), name, command]];
}

function flagTable(flags: readonly (Flag & Pick<Setting, "isVariableOnly">)[]): string {
  const rows = flags.map((flag) => [
    flag.isVariableOnly === true ? "" : flagNames(flag),
    (flag.variables ?? []).map((name) => `\`${name}\``).join(", "),
    flag.isRequired === true ? "required" : (flagDefault(flag) ?? ""),
    describeFlag(flag),
  ]);
  const heads = ["flag", "environment", "default", "meaning"];
  const used = heads.map((_, column) => rows.some((row) => row[column] !== ""));
  const kept = (row: readonly string[]): string[] => row.filter((_, column) => used[column]);
  return markdownTable(kept(heads), rows.map(kept));
}

function flagNames(flag: Flag): string {
  const names = flag.hasOpposite === true ? [flag.flag, oppositeFlag(flag)] : [flag.flag];
  return names.map((name) => `\`${name}\``).join(", ");
}

function describeFlag({ help, details, choices }: Flag): string {
  const values =
    choices === undefined ? "" : ` One of ${choices.map((choice) => `\`${choice}\``).join(", ")}.`;
  return `${help}.${values}${details === undefined ? "" : ` ${details}`}`;
}

const modelRules: Readonly<Record<ModelRule, string>> = {
  known: "an installed id",
  given: "the served id",
  any: "any text; an installed id is that model",
};
const loadingRules: Readonly<Record<OnLoading, string>> = {
  wait: "requests wait",
  reject: "503",
  "reject-at-start": "requests wait, but get a 503 until a first model is loaded",
};

function variantTable(): string {
  const rows = Object.entries(variants).map(([name, variant]) => [
    `\`${name}\``,
    variant.portFallback ? `${variant.port}, or the next free one` : `${variant.port}`,
    variant.host,
    variant.model === undefined ? "[the one used last](#without-a-name)" : `\`${variant.model}\``,
    modelRules[variant.modelRule],
    loadingRules[variant.onLoading],
    `${variant.sampling.topK}`,
  ]);
  const heads = [
    "variant",
    "port",
    "address",
    "model",
    "`model` of a request",
    "while a model loads",
    "default `top_k`",
  ];
  return markdownTable(heads, rows);
}

function errorTable(): string {
  const rows = Object.entries(wireErrors).map(([code, { status, type }]) => {
    const { means = "", advice = "" } = isWireErrorCode(code) ? errorHelp[code] : {};
    return [`\`${code}\``, `${status}`, `\`${type}\``, means, advice];
  });
  return markdownTable(["code", "status", "type", "what it means", "what to do"], rows);
}

if (process.argv[1] === import.meta.filename && process.argv.includes("--write")) {
  for (const page of pages) {
    const file = path.join(root, page);
    await writeFile(file, regenerate(await readFile(file, "utf8")));
  }
}
