// The settings for devices and processors that each model may have for itself: a flag of `ingle serve` and of `ingle load`, a field of a
// request to load a model, and an option of the engine, whose names follow from each other.
import type { LoadOptions } from "@ingle/engine";
import { engineSettings } from "./engine-settings.ts";
import { computeSettings, deviceSettings, positionSettings } from "./device-settings.ts";
import { longFlag, type Setting } from "./setting.ts";

const table = {
  threads: engineSettings.threads,
  ...deviceSettings,
  ...computeSettings,
  ...positionSettings,
};

type Name = keyof typeof table;
type OppositeName = Extract<Name, `no${Capitalize<string>}`>;
/** `mmap` for `noMmap`, its opposite. */
type OptionName =
  | Exclude<Name, OppositeName>
  | (OppositeName extends `no${infer Option}` ? Uncapitalize<Option> : never);

/** Options of the engine; absent ones are not specified. */
export type OwnOptions = Pick<LoadOptions, OptionName>;

/** What the server was started with: options of the engine, and the opposites of some. */
export type StartedWith = OwnOptions & { [Each in OppositeName]?: boolean };

interface OwnSetting {
  readonly setting: Setting;
  /** In the server's config. */
  readonly name: string;
  /** In a request to load a model. */
  readonly field: string;
  /** Of the engine. */
  readonly option: string;
  /** The flag switches off what the field and the option switch on: `--no-mmap`. */
  readonly isOpposite: boolean;
}

export const ownSettings: readonly OwnSetting[] = Object.entries<Setting>(table).map(([name, setting]) => {
  const field = longFlag(setting).slice("--".length).replaceAll("-", "_");
  if (!field.startsWith("no_")) return { setting, name, field, option: name, isOpposite: false };
  const [initial = "", ...rest] = name.slice("no".length);
  const option = initial.toLowerCase() + rest.join("");
  return { setting, name, field: field.slice("no_".length), option, isOpposite: true };
});

/** The engine's message about its options with other names for them: the one that it begins with, and all that are no words. */
export function withNames(message: string, nameOf: (own: OwnSetting) => string): string {
  const names = new Map(ownSettings.map((own) => [own.option, nameOf(own)]));
  return message.replaceAll(/^\w+(?=:)|\b[a-z]+[A-Z]\w*/g, (option) => names.get(option) ?? option);
}
