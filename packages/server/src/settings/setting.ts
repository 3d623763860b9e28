// The description of a flag or a setting: name, environment variables, rule, default and help. The help, docs/cli.md, the parsing and the
// types all come from it. It is plain data, so that `ingle --help` loads no schema library.
import type { z } from "zod";

/** The type of a flag's value: lists are separated by commas; times are written like `30s`. */
export type Kind = "text" | "list" | "integer" | "decimal" | "time" | "toggle";

export interface Flag {
  /** In commander's notation: `--ctx <tokens>`. */
  readonly flag: string;
  readonly kind: Kind;
  /** One phrase, for `--help` and docs/cli.md. */
  readonly help: string;
  /** Sentences in Markdown that docs/cli.md adds. */
  readonly details?: string;
  readonly choices?: readonly string[];
  /** Bounds of a number; of a time, in milliseconds. */
  readonly min?: number;
  readonly max?: number;
  /** Environment variables for the flag, in order of precedence; platforms set those without INGLE_. */
  readonly variables?: readonly string[];
  readonly default?: string | number;
  /** Describes a default that is not a plain value. */
  readonly defaultText?: string;
  readonly isRequired?: true;
  /** Of a toggle: whether its opposite, such as `--mmap` for `--no-mmap`, is a flag that overrides a variable or a server's setting. */
  readonly hasOpposite?: true;
}

/** Rules need a schema library: a setting names one as a function of this module, which is loaded when values are checked. */
export type Rules = typeof import("./rules.ts");

export interface Setting extends Flag {
  /** Default: the rule that follows from kind, bounds and choices. */
  readonly rule?: (rules: Rules) => z.ZodType;
  /** Whether the default is the variant's, under the same name. */
  readonly isPerVariant?: true;
  /** Of a toggle: whether the engine decides if it is not given. */
  readonly isUnsetByDefault?: true;
  /** Whether it has no flag: it is set by its variable, or by a program. */
  readonly isVariableOnly?: true;
  /** Whether its group is undefined without it. */
  readonly opensGroup?: true;
  /** The flag that this one needs. */
  readonly requires?: string;
}

/** A flag or setting without its name, kind and help. */
type Rest = Omit<Setting, "flag" | "kind" | "help">;
type Described<K extends Kind, F extends string, R> = {
  readonly flag: F;
  readonly kind: K;
  readonly help: string;
  readonly variables?: readonly string[];
} & R;

/**
 * One function for each kind of flag. With a prefix, such as `INGLE_`, a variable stands for each flag: the prefix and the flag's
 * name, `INGLE_NO_UI` for `--no-ui`, unless `variables` names others.
 */
export function flagKinds(variablePrefix?: string) {
  const kind =
    <K extends Kind>(name: K) =>
    <const F extends string, const R extends Rest>(flag: F, help: string, rest?: R): Described<K, F, R> => {
      const words = longFlag({ flag }).slice(2).replaceAll("-", "_").toUpperCase();
      const variables = variablePrefix === undefined ? {} : { variables: [variablePrefix + words] };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without `rest`, R is empty
      return { flag, kind: name, help, ...variables, ...rest } as Described<K, F, R>;
    };
  return {
    text: kind("text"),
    list: kind("list"),
    integer: kind("integer"),
    decimal: kind("decimal"),
    time: kind("time"),
    toggle: kind("toggle"),
  };
}

/** Settings by name, in groups, in the same shape as their values. */
export interface SettingTable {
  readonly [name: string]: Setting | SettingTable;
}

export function isSetting(entry: Setting | SettingTable): entry is Setting {
  return typeof entry["flag"] === "string";
}

/** Every setting of a table and of its groups, in order. */
export function settingsIn(table: SettingTable): Setting[] {
  return Object.values(table).flatMap((entry) => (isSetting(entry) ? [entry] : settingsIn(entry)));
}

/** Whether its value is a path, or a word instead of one. */
export function isPath({ flag }: Pick<Flag, "flag">): boolean {
  return /<(file|folder|place)>/.test(flag);
}

/** `ctx` for `--ctx <tokens>`, `noUi` for `--no-ui`, `output` for `-o, --output <file>`. */
export function flagName({ flag }: Pick<Flag, "flag">): string {
  return longFlag({ flag })
    .slice(2)
    .replace(/-[a-z]/g, (letter) => letter.slice(1).toUpperCase());
}

/** `--ctx` for `--ctx <tokens>`. */
export function longFlag({ flag }: Pick<Flag, "flag">): string {
  return /--[a-z-]+/.exec(flag)?.[0] ?? flag;
}

/** `--mmap` for `--no-mmap`, and `--no-mlock` for `--mlock`. */
export function oppositeFlag(flag: Pick<Flag, "flag">): string {
  const name = longFlag(flag);
  return name.startsWith("--no-") ? name.replace("--no-", "--") : name.replace("--", "--no-");
}

/** The value in the text of a flag or variable. Text that cannot be parsed is returned unchanged: the rule refuses it. */
export function readText(kind: Kind, text: string): unknown {
  switch (kind) {
    case "integer":
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    case "decimal":
      return text.trim() === "" || !Number.isFinite(Number(text)) ? text : Number(text);
    case "toggle":
      return truths[text.toLowerCase()] ?? text;
    case "list":
      return splitList(text);
    case "text":
    case "time":
      return text;
  }
}

/** As the Hugging Face tools read their variables. */
const truths: Readonly<Record<string, boolean>> = {
  1: true,
  true: true,
  yes: true,
  on: true,
  0: false,
  false: false,
  no: false,
  off: false,
};

/** Entries separated by commas; empty ones are omitted. */
function splitList(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

/** The values of these flags, from the command line or a program, by their names in camelCase. */
export type FlagsOf<F extends Flag> = {
  [Each in F as Each extends { isRequired: true } ? never : NameOf<Each["flag"]>]?: InputOf<Each> | undefined;
} & { [Each in F as Each extends { isRequired: true } ? NameOf<Each["flag"]> : never]: InputOf<Each> };

type NameOf<Text extends string> = Text extends `${string}--${infer Name} ${string}`
  ? CamelCase<Name>
  : Text extends `${string}--${infer Name}`
    ? CamelCase<Name>
    : never;
type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;

interface Inputs {
  text: string;
  time: string;
  list: string[];
  integer: number;
  decimal: number;
  toggle: boolean;
}
type InputOf<F extends Flag> = Inputs[F["kind"]] | (F["flag"] extends `${string}[${string}` ? true : never);

/** The settings of a table, as one union. */
export type SettingsIn<T> = {
  [Name in keyof T]: T[Name] extends Setting ? T[Name] : SettingsIn<T[Name]>;
}[keyof T];

/** The values of a table's settings, read and checked. */
export type ValuesOf<T> = {
  [Name in keyof T]: T[Name] extends Setting
    ? ValueOf<T[Name]> | (IsAlwaysThere<T[Name]> extends true ? never : undefined)
    :
        | ValuesOf<T[Name]>
        | (Extract<T[Name][keyof T[Name]], { opensGroup: true }> extends never ? never : undefined);
};

type IsAlwaysThere<S> = S extends { isUnsetByDefault: true }
  ? false
  : S extends
        | { kind: "toggle" | "list" }
        | { default: unknown }
        | { isPerVariant: true }
        | { opensGroup: true }
    ? true
    : false;

type ValueOf<S extends Setting> = S extends { rule: (rules: Rules) => z.ZodType<infer Value> }
  ? Value
  : S extends { choices: readonly (infer Choice)[] }
    ? Choice
    : S["kind"] extends "time"
      ? number
      : InputOf<S>;
