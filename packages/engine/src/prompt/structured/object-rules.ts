// GBNF for sets of objects: the named properties in the schema's order, or any names where none is named.
import { anyObject, anyString, space } from "./json-text.ts";
import { countedMembersRule, jsonMembers, membersRule, type Member } from "./object-members.ts";
import { anyObjects, listedNames, propertyValue, type ObjectValues } from "./object-values.ts";
import { repeated, cannotEnforce } from "./rules.ts";
import { allOf, type Conjunction } from "./schema-parts.ts";
import { anyStrings, commonStrings, stringRule, type StringValues } from "./string-values.ts";
import type { ValueWriter } from "./schema-reader.ts";

/** Patterns of names overlap in so many ways, to the power of two. */
const patternsMax = 6;

/** Undefined if there are no objects. Throws a SchemaError. */
export function objectRule(set: ObjectValues, writer: ValueWriter): string | undefined {
  if (set === anyObjects) return anyObject(writer.rules);
  const members = namedMembers(set, writer);
  if (members === undefined) return undefined;
  if (members.length === 0) return anyNames(set, writer);
  const required = members.filter(({ isRequired }) => isRequired).length;
  const max = set.max ?? members.length;
  if (max < required || set.min > members.length) return undefined;
  const form = jsonMembers(writer.rules);
  const uncounted = (): string => membersRule(members, writer.rules, form);
  if (set.min <= required && max >= members.length) return uncounted();
  return writer.relaxed(
    () => countedMembersRule(members, { min: set.min, max }, writer.rules, form),
    uncounted,
  );
}

/** The named properties that may be there; undefined if a required one may not. */
export function namedMembers(set: ObjectValues, writer: ValueWriter): Member[] | undefined {
  const { context, strings } = writer.reader;
  const required = new Set(set.required);
  const names = set.names.length === 0 ? undefined : writer.reader.set(set.names).strings;
  const members: Member[] = [];
  for (const name of listedNames(set)) {
    const isName = names === undefined || names.some((each) => strings.admits(each, name));
    const rule = isName ? writer.rule(propertyValue(set, name, context)) : undefined;
    if (rule !== undefined) members.push({ name, rule, isRequired: required.has(name) });
    else if (required.has(name)) return undefined;
  }
  return members;
}

/** An object whose schema names no property. */
function anyNames(set: ObjectValues, writer: ValueWriter): string | undefined {
  const { rules } = writer;
  const gap = space(rules);
  const members = membersByName(set, writer);
  const empty = set.min === 0 ? `"{" ${gap} "}"` : undefined;
  if (members.length === 0 || set.max === 0) return empty;
  if (set.min > 1) {
    writer.relaxed(
      () => {
        throw cannotEnforce(
          "minProperties above 1 cannot be enforced without properties, because names may repeat",
        );
      },
      () => undefined,
    );
  }
  const member = rules.add(members.join(" | "));
  const next = rules.add(`"," ${gap} ${member}`);
  const max = set.max === undefined ? undefined : set.max - 1;
  const list = `${member} ${repeated(next, Math.max(0, set.min - 1), max)}`;
  return `"{" ${gap} ${set.min === 0 ? `(${list})?` : list} ${gap} "}"`;
}

/** GBNF for a member, for each way in which a name may match the patterns. */
function membersByName(set: ObjectValues, writer: ValueWriter): string[] {
  const { rules, reader } = writer;
  const patterns = [...new Set(set.layers.flatMap((layer) => layer.patterns.map(([pattern]) => pattern)))];
  if (patterns.length > patternsMax)
    throw cannotEnforce(`patternProperties cannot be enforced: they have more than ${patternsMax} patterns`);
  const excluded = [...listedNames(set)];
  const nameSets = set.names.length === 0 ? [anyStrings] : reader.set(set.names).strings;
  return Array.from({ length: 2 ** patterns.length }, (_, bits) => bits).flatMap((bits) => {
    const matching = new Set(patterns.filter((_pattern, index) => (bits >> index) % 2 === 1));
    const value = writer.rule(valueMatching(set, matching));
    if (value === undefined) return [];
    const about: StringValues =
      patterns.length + excluded.length === 0
        ? anyStrings
        : {
            ...anyStrings,
            excluded,
            patterns: [...matching],
            noPatterns: patterns.filter((each) => !matching.has(each)),
          };
    return nameSets.flatMap((names) => {
      const keys = commonStrings(about, names, reader.strings);
      const key = keys === undefined ? undefined : keyRule(keys, writer);
      return key === undefined ? [] : [`${key} ":" ${space(rules)} ${value}`];
    });
  });
}

function keyRule(keys: StringValues, writer: ValueWriter): string | undefined {
  if (keys === anyStrings) return anyString(writer.rules);
  const written = stringRule(keys, writer.reader.strings);
  return written === undefined ? undefined : writer.rules.add(written);
}

/** What the value is of a property that no schema names, and that matches these patterns only. */
function valueMatching(set: ObjectValues, matching: ReadonlySet<string>): Conjunction {
  let value: Conjunction = [];
  for (const { patterns, additional } of set.layers) {
    const own = patterns.filter(([pattern]) => matching.has(pattern));
    if (own.length === 0) value = allOf(value, additional);
    for (const [, its] of own) value = allOf(value, its);
  }
  return value;
}
