// GBNF for the arguments of a call that are written one by one: strings as they are, and other values as JSON.
import { namedMembers } from "./object-rules.ts";
import { propertyValue, type ObjectValues } from "./object-values.ts";
import { cannotEnforce } from "./rules.ts";
import { anyStrings, plainStringRule, type StringValues } from "./string-values.ts";
import { aboutOnly, eitherSet, everything, type ValueSet } from "./value-set.ts";
import type { ValueWriter } from "./schema-reader.ts";

export interface Argument {
  name: string;
  isRequired: boolean;
  /** The types that its value may have. With `string` among them, the value may be written as it is. */
  types: string[];
  /** GBNF for its value, without what ends it. Undefined: anything of these types. */
  text: string | undefined;
}

/** How a string is written as it is. */
export interface PlainSyntax {
  /** What follows a string, and is in none. */
  readonly end: string;
  /** Whether a value that may be a string or something else is read as JSON if it is JSON. Otherwise, it is a string. */
  readonly readsJson: boolean;
}

export interface ArgumentWriter extends ValueWriter {
  /** GBNF for the values as JSON; undefined if there are none. */
  values: (set: ValueSet) => string | undefined;
}

/**
 * An argument for each named property. Each follows its own schema; with several alternatives, it is that of any. Throws a SchemaError.
 */
export function argumentRules(
  objects: readonly ObjectValues[],
  syntax: PlainSyntax,
  writer: ArgumentWriter,
): Argument[] {
  const found = new Map<string, { required: number; rules: Set<string>; sets: ValueSet[] }>();
  let alternatives = 0;
  for (const set of objects) {
    const members = namedMembers(set, writer);
    if (members === undefined) continue;
    alternatives += 1;
    for (const { name, rule, isRequired } of members) {
      const entry = found.get(name) ?? { required: 0, rules: new Set(), sets: [] };
      found.set(name, entry);
      entry.required += isRequired ? 1 : 0;
      entry.rules.add(rule);
      entry.sets.push(writer.reader.set(propertyValue(set, name, writer.reader.context)));
    }
  }
  return Array.from(found, ([name, { required, rules, sets }]) => {
    const set = eitherSet(sets.map(aboutOnly));
    const isRequired = required === alternatives;
    if (set.strings.length > 0) return { name, isRequired, ...written(set, syntax, writer) };
    return { name, isRequired, types: typeNames(set), text: [...rules].join(" | ") };
  });
}

/** A value that may be a string. */
function written(
  set: ValueSet,
  syntax: PlainSyntax,
  writer: ArgumentWriter,
): Pick<Argument, "types" | "text"> {
  const types = syntax.readsJson ? typeNames({ ...set, strings: [] }) : [];
  if (set === everything || (types.length === 0 && set.strings.includes(anyStrings)))
    return { types: ["string", ...types], text: undefined };
  const rules = [
    types.length === 0 ? undefined : writer.values({ ...set, strings: [] }),
    ...set.strings.map((each) => plain(each, { end: syntax.end, jsonTypes: types }, writer)),
  ].filter((rule) => rule !== undefined);
  if (rules.length === 0)
    throw cannotEnforce("the strings of an argument cannot be written in the syntax of the model's calls");
  return { types: ["string", ...types], text: rules.join(" | ") };
}

function plain(
  set: StringValues,
  within: Parameters<typeof plainStringRule>[1],
  writer: ArgumentWriter,
): string | undefined {
  const { strings } = writer.reader;
  return writer.relaxed(
    () => plainStringRule(set, within, strings),
    () =>
      writer.relaxed(
        () => plainStringRule({ ...set, min: 0, max: undefined }, within, strings),
        () => plainStringRule(anyStrings, within, strings),
      ),
  );
}

function typeNames(set: ValueSet): string[] {
  return [
    ...(set.strings.length > 0 ? ["string"] : []),
    ...(set.hasNull ? ["null"] : []),
    ...(set.booleans.length > 0 ? ["boolean"] : []),
    ...(set.numbers.length > 0 ? ["number"] : []),
    ...(set.arrays.length > 0 ? ["array"] : []),
    ...(set.objects.length > 0 ? ["object"] : []),
  ];
}
