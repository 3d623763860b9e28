// Reads the settings of a table from flags and environment, and checks each: default < environment < flag.
import type { z } from "zod";
import * as rules from "./rules.ts";
import {
  flagName,
  isPath,
  isSetting,
  longFlag,
  readText,
  settingsIn,
  type FlagsOf,
  type Kind,
  type Setting,
  type SettingsIn,
  type SettingTable,
  type ValuesOf,
} from "./setting.ts";

/** A setting that cannot be used. `setting` is the flag or environment variable that it came from. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly setting: string;

  constructor(setting: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.setting = setting;
  }
}

/** A setting's value before it is checked, and the flag or variable that gave it. */
export interface Given {
  readonly value: unknown;
  readonly source: string;
}

type GivenSettings = ReadonlyMap<Setting, Given>;

export interface SettingSources<T> {
  readonly flags: FlagsOf<SettingsIn<T>>;
  readonly env: NodeJS.ProcessEnv;
}

/** What flags and environment specify; flags win. An empty variable counts as not set: compose files and shells set those. */
export function givenSettings<T extends SettingTable>(
  table: T,
  { flags, env }: SettingSources<T>,
): GivenSettings {
  const values: Readonly<Record<string, unknown>> = flags;
  const given = new Map<Setting, Given>();
  for (const setting of settingsIn(table)) {
    const value = values[flagName(setting)];
    const variable = setting.variables?.find((name) => (env[name] ?? "") !== "");
    if (value !== undefined) given.set(setting, { value, source: longFlag(setting) });
    else if (variable !== undefined)
      given.set(setting, { value: readText(setting.kind, env[variable] ?? ""), source: variable });
  }
  return given;
}

/** Checks every setting. `defaults` are those that a variant has, by name. Throws ConfigError for the first invalid one. */
export function checkedSettings<T extends SettingTable>(
  table: T,
  given: GivenSettings,
  defaults: Readonly<Record<string, unknown>> = {},
): ValuesOf<T> {
  const values = resolveValues(table, given, defaults);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type is computed from the table as the value is
  return values as ValuesOf<T>;
}

export function resolveSettings<T extends SettingTable>(table: T, sources: SettingSources<T>): ValuesOf<T> {
  return checkedSettings(table, givenSettings(table, sources));
}

function resolveValues(
  table: SettingTable,
  given: GivenSettings,
  defaults: Readonly<Record<string, unknown>>,
): object | undefined {
  const entries = Object.entries(table);
  const opening = entries.flatMap(([, entry]) =>
    isSetting(entry) && entry.opensGroup === true ? [entry] : [],
  );
  for (const [, entry] of entries) if (isSetting(entry)) refuseAlone(entry, table, given);
  if (opening.some((setting) => !given.has(setting))) return undefined;
  return Object.fromEntries(
    entries.map(([name, entry]) => [
      name,
      isSetting(entry)
        ? resolveValue(entry, given.get(entry), defaults[name])
        : resolveValues(entry, given, defaults),
    ]),
  );
}

/** Throws if a setting is given without the one that it requires, such as a certificate without its key. */
function refuseAlone(setting: Setting, group: SettingTable, given: GivenSettings): void {
  const { requires } = setting;
  const source = given.get(setting)?.source;
  if (requires === undefined || source === undefined) return;
  const isThere = settingsIn(group).some((other) => longFlag(other) === requires && given.has(other));
  if (!isThere) throw new ConfigError(source, `${source} needs ${requires} as well.`);
}

function resolveValue(setting: Setting, given: Given | undefined, variantDefault: unknown): unknown {
  const empty = setting.isUnsetByDefault === true ? undefined : emptyValues[setting.kind];
  const value = given?.value ?? variantDefault ?? setting.default ?? empty;
  if (value === undefined) return undefined;
  const source = given?.source ?? longFlag(setting);
  const checked = settingRule(setting).safeParse(value);
  if (checked.success) return checked.data;
  throw new ConfigError(source, `${source} ${checked.error.issues[0]?.message ?? "cannot be used"}.`);
}

const emptyValues: Partial<Record<Kind, unknown>> = { toggle: false, list: [] };

/** The schema of a setting's values. */
export function settingRule(setting: Setting): z.ZodType {
  const { kind, rule, choices } = setting;
  if (rule !== undefined) return rule(rules);
  if (choices !== undefined) return rules.choiceRule(choices);
  switch (kind) {
    case "integer":
      return rules.integer(setting);
    case "time":
      return rules.time(setting);
    case "decimal":
      return rules.decimal(setting);
    case "toggle":
      return rules.toggle;
    case "list":
      return rules.list;
    case "text":
      return isPath(setting) ? rules.path : rules.text;
  }
}
