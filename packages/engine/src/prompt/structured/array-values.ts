// Sets of arrays by the keywords that restrict them: how they intersect, and what one lacks of another.
import { cannotEnforce } from "./rules.ts";
import { allOf, never, type Conjunction, type Part, type Parts } from "./schema-parts.ts";
import { lesser } from "./string-values.ts";

/** An array is in it if it satisfies all. */
export interface ArrayValues {
  /** What the first items are. */
  readonly prefix: readonly Conjunction[];
  /** What the items after them are. */
  readonly rest: Conjunction;
  /** Whether the schema says what the items after the first are. */
  readonly isRestGiven: boolean;
  readonly min: number;
  readonly max: number | undefined;
  readonly contains: readonly Contained[];
  readonly isUnique: boolean;
}

/** So many items are this. */
export interface Contained {
  readonly item: Conjunction;
  readonly min: number;
  readonly max: number | undefined;
}

export const anyArrays: ArrayValues = {
  prefix: [],
  rest: [],
  isRestGiven: false,
  min: 0,
  max: undefined,
  contains: [],
  isUnique: false,
};

/** What the item at an index is. */
function itemAt({ prefix, rest }: ArrayValues, index: number): Conjunction {
  return prefix[index] ?? rest;
}

/** Undefined if it has no arrays; the arrays of others may also turn out to be none. */
export function commonArrays(one: ArrayValues, other: ArrayValues): ArrayValues | undefined {
  if (one === anyArrays) return other;
  if (other === anyArrays) return one;
  const length = Math.max(one.prefix.length, other.prefix.length);
  const common: ArrayValues = {
    prefix: Array.from({ length }, (_, index) => allOf(itemAt(one, index), itemAt(other, index))),
    rest: allOf(one.rest, other.rest),
    isRestGiven: one.isRestGiven || other.isRestGiven,
    min: Math.max(one.min, other.min),
    max: lesser(one.max, other.max),
    contains: [...one.contains, ...other.contains],
    isUnique: one.isUnique || other.isUnique,
  };
  const max = mostItems(common);
  return max !== undefined && max < common.min ? undefined : common;
}

/** `maxItems`, or the number of items before one that cannot be. */
export function mostItems(set: ArrayValues): number | undefined {
  const impossible = set.prefix.indexOf(never);
  if (impossible >= 0) return lesser(set.max, impossible);
  return set.rest === never ? lesser(set.max, set.prefix.length) : set.max;
}

/** The arrays of `one` that are not in `other`. Throws a SchemaError if they cannot be told. */
export function arraysWithout(one: ArrayValues, other: ArrayValues, parts: Parts): ArrayValues[] {
  const most = mostItems(other);
  const rest = other.rest === never ? [] : other.rest;
  if (other.isUnique || other.contains.some(({ item, max }) => max !== undefined || item.length !== 1))
    throw cannotEnforce("uniqueItems and contains cannot be enforced inside not, oneOf and if");
  if (other.prefix.length > 0 && rest.length > 0)
    throw cannotEnforce("items cannot be enforced beside prefixItems inside not, oneOf and if");
  const outside: ArrayValues[] = [
    ...(other.min > 0 ? [{ ...anyArrays, max: other.min - 1 }] : []),
    ...(most === undefined ? [] : [{ ...anyArrays, min: most + 1 }]),
    ...other.prefix
      .slice(0, most)
      .flatMap((item, index) => item.map((part) => withItem(one, index, parts.not(part)))),
    ...rest.map((part) => ({ ...anyArrays, contains: [{ item: parts.not(part), min: 1, max: undefined }] })),
    ...other.contains.flatMap(({ item, min }) => item.map((part) => withFew(part, min, parts))),
  ];
  return outside.map((each) => commonArrays(one, each)).filter((each) => each !== undefined);
}

/** Arrays whose item at an index exists and is this. */
function withItem(one: ArrayValues, index: number, item: Conjunction): ArrayValues {
  const before = Array.from({ length: index }, (_, at) => itemAt(one, at));
  const { rest, isRestGiven } = one;
  return { ...anyArrays, prefix: [...before, item], rest, isRestGiven, min: index + 1 };
}

/** Arrays with fewer than `min` items that are the part. */
function withFew(part: Part, min: number, parts: Parts): ArrayValues {
  if (min === 1) return { ...anyArrays, rest: parts.not(part), isRestGiven: true };
  throw cannotEnforce("minContains cannot be enforced inside not, oneOf and if");
}
