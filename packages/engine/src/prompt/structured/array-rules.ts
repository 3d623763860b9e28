// GBNF for sets of arrays.
import { anyArrays, mostItems, type ArrayValues, type Contained } from "./array-values.ts";
import { anyArray, space } from "./json-text.ts";
import { countedList } from "./object-members.ts";
import { literal, repeated, cannotEnforce } from "./rules.ts";
import { allOf, never } from "./schema-parts.ts";
import type { ValueSet } from "./value-set.ts";
import type { ValueWriter } from "./schema-reader.ts";

/** Undefined if there are no arrays. Throws a SchemaError. */
export function arrayRule(set: ArrayValues, writer: ValueWriter): string | undefined {
  if (set === anyArrays) return anyArray(writer.rules);
  const max = mostItems(set);
  if (set.isUnique && (max === undefined || max > 1)) return uniqueItems(set, max, writer);
  if (set.contains.some(({ item, min }) => item === never && min > 0)) return undefined;
  const [contained] = set.contains;
  if (contained !== undefined)
    return writer.relaxed(
      () => containing(set, contained, max, writer),
      () => items({ ...set, contains: [] }, max, writer),
    );
  return items(set, max, writer);
}

function bracketed(inner: string | undefined, writer: ValueWriter): string | undefined {
  const gap = space(writer.rules);
  return inner === undefined ? undefined : `"[" ${gap} ${inner} ${gap} "]"`;
}

/** The first items, then as many others as there may be. All first items are there unless there may be fewer. */
function items(set: ArrayValues, max: number | undefined, writer: ValueWriter): string | undefined {
  const first = firstItems(set, max, writer);
  const most = first.length < set.prefix.length ? first.length : max;
  const hasMore = set.prefix.length === 0 || set.isRestGiven || set.min > first.length;
  const rest = hasMore && (most === undefined || most > first.length) ? writer.rule(set.rest) : undefined;
  const last = rest === undefined ? first.length : most;
  const least = Math.max(set.min, first.length);
  if (last !== undefined && last < least) return undefined;
  const gap = space(writer.rules);
  const separator = `"," ${gap}`;
  const head = first.join(` ${separator} `);
  if (rest === undefined) return bracketed(head, writer);
  if (head === "") return bracketed(itemList(rest, least, last, writer), writer);
  const next = writer.rules.add(`${separator} ${rest}`);
  const more = last === undefined ? undefined : last - first.length;
  return bracketed(`${head} ${repeated(next, least - first.length, more)}`, writer);
}

/** Rules of the items with a schema of their own, up to the first that cannot be. */
function firstItems(set: ArrayValues, max: number | undefined, writer: ValueWriter): string[] {
  const rules: string[] = [];
  for (const item of set.prefix.slice(0, max)) {
    const rule = writer.rule(item);
    if (rule === undefined) break;
    rules.push(rule);
  }
  return rules;
}

/** Items separated by commas. */
function itemList(item: string, min: number, max: number | undefined, writer: ValueWriter): string {
  if (max === 0) return "";
  const next = writer.rules.add(`"," ${space(writer.rules)} ${item}`);
  const list = `${item} ${repeated(next, Math.max(0, min - 1), max === undefined ? undefined : max - 1)}`;
  return min === 0 ? `(${list})?` : list;
}

/** Any items, with so many in between that are what the array must contain. */
function containing(
  set: ArrayValues,
  { item, min, max: most }: Contained,
  max: number | undefined,
  writer: ValueWriter,
): string | undefined {
  const isItems = set.contains.some((each) => each.item.some(({ isNegated }) => isNegated));
  const inside = "items inside not, oneOf and if";
  if (set.contains.length > 1 || set.prefix.length > 0 || most !== undefined) {
    const what = "maxContains, and contains beside prefixItems or another one,";
    throw cannotEnforce(`${isItems ? `more than one of the ${inside}` : what} cannot be enforced`);
  }
  if (set.min > min || max !== undefined)
    throw cannotEnforce(`${isItems ? inside : "contains"} cannot be enforced beside minItems and maxItems`);
  const { rules } = writer;
  const match = writer.rule(allOf(set.rest, item));
  if (match === undefined) return undefined;
  const gap = space(rules);
  const other = writer.rule(set.rest) ?? match;
  const before = `(${other} "," ${gap})*`;
  const matches = Array.from({ length: min }, () => `${before} ${match}`).join(` "," ${gap} `);
  return bracketed(`${matches} ("," ${gap} ${other})*`, writer);
}

/** Different items, in the order in which their schema lists them. */
function uniqueItems(set: ArrayValues, max: number | undefined, writer: ValueWriter): string | undefined {
  const values = set.prefix.length === 0 ? listedValues(writer.reader.set(set.rest)) : undefined;
  if (values === undefined || set.contains.length > 0)
    throw cannotEnforce("uniqueItems cannot be enforced unless an enum lists the items");
  const listed = values.map((value) => ({ text: writer.rules.add(literal(value)), isRequired: false }));
  const counts = { min: set.min, max: max ?? listed.length };
  return bracketed(countedList(listed, counts, writer.rules), writer);
}

/** The values as JSON; undefined if they are not listed. */
function listedValues(set: ValueSet): string[] | undefined {
  const lists = [...set.strings, ...set.numbers].map(({ values }) => values);
  if (set.arrays.length + set.objects.length > 0 || lists.includes(undefined)) return undefined;
  const values = [...lists.flatMap((list): readonly unknown[] => list ?? []), ...set.booleans];
  return [...new Set([...values, ...(set.hasNull ? [null] : [])].map((value) => JSON.stringify(value)))];
}
