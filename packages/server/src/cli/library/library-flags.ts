// The flags of the commands of the model library.
import type { Flag, FlagsOf } from "../../settings/setting.ts";

const exact = {
  flag: "--exact",
  kind: "toggle",
  help: "When converting from MLX, store what no quantization holds exactly in 16 bits per weight",
} as const;
const alias = { flag: "--alias <name>", kind: "text", help: "Name of your own for the model" } as const;
const json = { flag: "--json", kind: "toggle", help: "Print JSON" } as const;

export const pullFlags = [
  alias,
  exact,
  {
    flag: "--offline",
    kind: "toggle",
    help: "Download nothing; only check whether the model is on this machine",
  },
] as const satisfies readonly Flag[];
export type PullFlags = FlagsOf<(typeof pullFlags)[number]>;

export const searchFlags = [
  {
    flag: "--limit <number>",
    kind: "integer",
    min: 1,
    max: 99_999,
    defaultText: "20",
    help: "Most repositories to show",
  },
] as const satisfies readonly Flag[];
export type SearchFlags = FlagsOf<(typeof searchFlags)[number]>;

export const listFlags = [
  {
    ...json,
    details:
      "An array of objects with `id`, `path`, `format`, `quantization` (or `null`), `size_bytes`, `loaded` (whether a server of " +
      "this user has it in memory), `aliases` and `last_used` (an ISO date, or `null`).",
  },
] as const satisfies readonly Flag[];
export type ListFlags = FlagsOf<(typeof listFlags)[number]>;

export const aliasFlags = [
  { flag: "--remove", kind: "toggle", help: "Remove the name; its model stays" },
] as const satisfies readonly Flag[];
export type AliasFlags = FlagsOf<(typeof aliasFlags)[number]>;

export const importFlags = [
  { flag: "--copy", kind: "toggle", help: "Copy the files into the models folder" },
  alias,
  exact,
] as const satisfies readonly Flag[];
export type ImportFlags = FlagsOf<(typeof importFlags)[number]>;

export const pruneFlags = [
  {
    flag: "--unused-for <days>",
    kind: "integer",
    min: 1,
    max: 99_999,
    help: "Also remove models that were not loaded for this many days",
    details: "Imported models stay.",
  },
  { flag: "--dry-run", kind: "toggle", help: "Print what would be removed, and remove nothing" },
] as const satisfies readonly Flag[];
export type PruneFlags = FlagsOf<(typeof pruneFlags)[number]>;
