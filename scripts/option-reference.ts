// What pages and declarations say about generation options, made from their table: tables and lists for the pages, and the members of
// interfaces, so that editors show what an option means.
import {
  commonOptions,
  generationOptions,
  moreOptions,
} from "../packages/generation-options/src/generation-options.ts";
import {
  numberRule,
  type GenerationOption,
  type NumberOption,
} from "../packages/generation-options/src/option.ts";
import { samplerLetters } from "../packages/generation-options/src/samplers.ts";

type Rows = Readonly<Record<string, GenerationOption>>;

const groups: Readonly<Record<string, Rows>> = {
  all: generationOptions,
  common: commonOptions,
  more: moreOptions,
};

function rows(group = "all"): [name: string, option: GenerationOption][] {
  const found = groups[group];
  if (found === undefined) throw new Error(`No options are called "${group}".`);
  return Object.entries(found);
}

/** The fields of a request, with their rules and defaults. */
export function fieldTable(group: string): string {
  const cells = rows(group).map(([, option]) => {
    const { field, alias, help, fieldNote, details } = option;
    const isPerVariant = isNumber(option) && option.isPerVariant === true;
    return [
      alias === undefined ? code(field) : `${code(field)}, ${code(alias)}`,
      joined(fieldRule(option), help.replaceAll(fieldName, code("$&")), fieldNote, details),
      isPerVariant ? "by [variant](#the-four-variants)" : defaultText(option),
    ];
  });
  return markdownTable(["field", "rule", "default"], cells);
}

/** The options of the library. */
export function parameterTable(): string {
  const cells = rows().map(([name, option]) => [
    code(name),
    defaultText(option),
    joined(libraryNames(option.help, code), option.libraryNote, option.details),
  ]);
  return markdownTable(["option", "default", "meaning"], cells);
}

export function fieldList(group: string): string {
  return rows(group)
    .map(([, { field }]) => code(field))
    .join(", ");
}

/** The keys of a model's file. */
export function keyList(): string {
  return rows()
    .flatMap(([, { ggufKey }]) => (ggufKey === undefined ? [] : [code(ggufKey)]))
    .join(", ");
}

/** The members of `OptionValues`, as the library's programs give them. */
export function valueMembers(): string {
  const members = rows().map(([name, option]) => {
    const { fieldMin: _, ...bounds } = { fieldMin: undefined, ...option };
    const rule = isNumber(bounds) ? sentence(numberRule(bounds)) : undefined;
    const usual = sentence(`default: ${defaultText(option).replaceAll(/`|\[([^\]]+)\]\([^)]*\)/g, "$1")}`);
    const text = joined(libraryNames(option.help), option.libraryNote, rule, usual);
    return `${comment(text)}\n  ${name}${"default" in option ? "" : "?"}: ${valueTypes[option.kind]};`;
  });
  return members.join("\n");
}

const valueTypes: Readonly<Record<GenerationOption["kind"], string>> = {
  number: "number",
  integer: "number",
  limit: "number",
  seed: "number",
  texts: "string[]",
  stops: "string[]",
  samplers: "SamplerName[]",
  bias: "LogitBias",
};

/** The members of `NativeSampling`. */
export function nativeMembers(): string {
  return rows()
    .flatMap(([name, { kind }]) => {
      const { type, meaning } = nativeTypes[kind] ?? {};
      if (type === undefined) return [];
      return [...(meaning === undefined ? [] : [comment(meaning)]), `  ${name}: ${type};`];
    })
    .join("\n");
}

/** Limits and stop strings are a request's own. */
const nativeTypes: Partial<Record<GenerationOption["kind"], { type: string; meaning?: string }>> = {
  number: { type: "number" },
  integer: { type: "number" },
  seed: { type: "number" },
  texts: { type: "string[]" },
  samplers: { type: "string", meaning: "The samplers in their order, each by llama.cpp's letter." },
  bias: {
    type: "Float64Array",
    meaning: "Pairs of token id and bias, flat: [id, bias, id, bias, …]. -Infinity bans the token.",
  },
};

function isNumber(option: GenerationOption): option is NumberOption {
  return option.kind === "number" || option.kind === "integer";
}

function fieldRule(option: GenerationOption): string | undefined {
  switch (option.kind) {
    case "number":
    case "integer":
      return sentence(numberRule(option));
    case "samplers": {
      const names = Object.entries(samplerLetters).map(([name, letter]) => `${code(name)} (${code(letter)})`);
      return `Each at most once: ${names.join(", ")}.`;
    }
    case "bias":
      return undefined;
    default:
      return sentence(option.rule);
  }
}

function defaultText(option: GenerationOption): string {
  if (option.defaultText !== undefined) return option.defaultText;
  if (!("default" in option)) return "none";
  const { default: usual } = option;
  if (typeof usual === "number") return `${usual}`;
  return usual.length === 0
    ? "none"
    : usual.map((text) => (text === "\n" ? "newline" : code(text))).join(", ");
}

const fieldName = /\b[a-z]+(?:_[a-z]+)+\b/g;

/** A help that names other options by their fields, with their names in the library. */
function libraryNames(help: string, quote: (name: string) => string = String): string {
  const names = new Map(rows().map(([name, { field }]) => [field, name]));
  return help.replaceAll(fieldName, (word) => {
    const name = names.get(word);
    return name === undefined ? word : quote(name);
  });
}

function code(text: string): string {
  return `\`${text}\``;
}

function sentence(rule: string): string {
  return `${rule.slice(0, 1).toUpperCase()}${rule.slice(1)}.`;
}

function joined(...sentences: readonly (string | undefined)[]): string {
  return sentences.filter((each) => each !== undefined).join(" ");
}

/** A doc comment of a member, in lines that fit. */
function comment(text: string): string {
  if (text.length < 100) return `  /** ${text} */`;
  const lines = text.match(/\S.{0,103}(?=\s|$)/g) ?? [];
  return ["  /**", ...lines.map((line) => `   * ${line}`), "   */"].join("\n");
}

/** A table of GitHub's Markdown. */
export function markdownTable(heads: readonly string[], lines: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(heads), `|${heads.map(() => "---|").join("")}`, ...lines.map(line)].join("\n");
}
