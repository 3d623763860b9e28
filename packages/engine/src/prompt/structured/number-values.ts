// Sets of numbers by the keywords that restrict them: how they intersect, what one lacks of another, and their GBNF.
import { anyInteger, anyNumber } from "./json-text.ts";
import { multiplesRule } from "./multiples.ts";
import { fractions, integersWithin, numbersWithin, type Bound, type Bounds } from "./number-range.ts";
import { literal, type Rules, cannotEnforce } from "./rules.ts";

/** A number is in it if it satisfies all. */
export interface NumberValues {
  /** The only numbers, if given. */
  readonly values?: readonly number[];
  /** Only integers, or only the others. */
  readonly kind: "any" | "integer" | "fraction";
  readonly min: Bound | undefined;
  readonly max: Bound | undefined;
  readonly multiples: readonly number[];
  readonly noMultiples: readonly number[];
}

export const anyNumbers: NumberValues = {
  kind: "any",
  min: undefined,
  max: undefined,
  multiples: [],
  noMultiples: [],
};

export const anyIntegers: NumberValues = { ...anyNumbers, kind: "integer" };

/** Undefined if it has no numbers; the numbers of others may also turn out to be none. */
export function commonNumbers(one: NumberValues, other: NumberValues): NumberValues | undefined {
  if (one === anyNumbers) return other;
  if (other === anyNumbers) return one;
  if (one.kind !== "any" && other.kind !== "any" && one.kind !== other.kind) return undefined;
  const common: NumberValues = {
    kind: one.kind === "any" ? other.kind : one.kind,
    min: tighter(one.min, other.min, 1),
    max: tighter(one.max, other.max, -1),
    multiples: [...new Set([...one.multiples, ...other.multiples])],
    noMultiples: [...new Set([...one.noMultiples, ...other.noMultiples])],
  };
  const values = one.values ?? other.values;
  if (values === undefined) return isReversed(common) ? undefined : common;
  const isIn = new Set(other.values ?? values);
  const left = values.filter((value) => isIn.has(value) && admitsNumber(common, value));
  return left.length === 0 ? undefined : { ...anyNumbers, values: left };
}

/** The tighter of two lower (1) or upper (-1) bounds. */
export function tighter(
  one: Bound | undefined,
  other: Bound | undefined,
  direction: 1 | -1,
): Bound | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.value === other.value) return one.isOpen ? one : other;
  return one.value * direction > other.value * direction ? one : other;
}

/** Whether no number is within the bounds. */
export function isReversed({ min, max }: Bounds): boolean {
  if (min === undefined || max === undefined) return false;
  return min.value > max.value || (min.value === max.value && (min.isOpen || max.isOpen));
}

function admitsNumber(set: NumberValues, value: number): boolean {
  const { min, max } = set;
  const isAbove = min === undefined || (min.isOpen ? value > min.value : value >= min.value);
  const isBelow = max === undefined || (max.isOpen ? value < max.value : value <= max.value);
  const isOfKind = set.kind === "any" || Number.isInteger(value) === (set.kind === "integer");
  return (
    isAbove &&
    isBelow &&
    isOfKind &&
    (set.values?.includes(value) ?? true) &&
    set.multiples.every((multiple) => Number.isInteger(value / multiple)) &&
    set.noMultiples.every((multiple) => !Number.isInteger(value / multiple))
  );
}

/** The numbers of `one` that are not in `other`, as sets. */
export function numbersWithout(one: NumberValues, other: NumberValues): NumberValues[] {
  return outside(other)
    .map((each) => commonNumbers(one, each))
    .filter((each) => each !== undefined);
}

function outside(set: NumberValues): NumberValues[] {
  if (set.values !== undefined) return between(set.values.toSorted((a, b) => a - b));
  const { kind, min, max } = set;
  return [
    ...(kind === "any"
      ? []
      : [{ ...anyNumbers, kind: kind === "integer" ? "fraction" : "integer" } as const]),
    ...(min === undefined ? [] : [{ ...anyNumbers, max: { value: min.value, isOpen: !min.isOpen } }]),
    ...(max === undefined ? [] : [{ ...anyNumbers, min: { value: max.value, isOpen: !max.isOpen } }]),
    ...set.multiples.map((multiple) => ({ ...anyNumbers, noMultiples: [multiple] })),
    ...set.noMultiples.map((multiple) => ({ ...anyNumbers, multiples: [multiple] })),
  ];
}

/** The ranges before, between and after sorted numbers. */
function between(values: readonly number[]): NumberValues[] {
  const bounds = [undefined, ...values.map((value) => ({ value, isOpen: true })), undefined];
  return bounds.slice(1).map((max, index) => ({ ...anyNumbers, min: bounds[index], max }));
}

/** GBNF for the numbers; undefined if there are none. Throws a SchemaError. */
export function numberRule(set: NumberValues, rules: Rules): string | undefined {
  if (set.values !== undefined) {
    rules.spend(set.values.length);
    return set.values.map((value) => literal(JSON.stringify(value))).join(" | ");
  }
  const { kind, min, max } = ofIntegers(set);
  if (set.multiples.length + set.noMultiples.length > 0) return remainderRule(set, rules);
  if (kind === "fraction") {
    if (min !== undefined || max !== undefined)
      throw cannotEnforce("minimum and maximum of numbers that are not integers cannot be enforced");
    return fractions;
  }
  if (min === undefined && max === undefined)
    return kind === "integer" ? anyInteger(rules) : anyNumber(rules);
  return kind === "integer" ? integersWithin({ min, max }) : numbersWithin({ min, max });
}

/** Multiples of an integer are integers. */
function ofIntegers(set: NumberValues): NumberValues {
  const isWhole = set.kind === "any" && set.multiples.some(Number.isInteger);
  return isWhole ? { ...set, kind: "integer" } : set;
}

function remainderRule(set: NumberValues, rules: Rules): string | undefined {
  const { kind, min, max, multiples, noMultiples } = ofIntegers(set);
  if (kind !== "integer" || ![...multiples, ...noMultiples].every((each) => Number.isInteger(each)))
    throw cannotEnforce("multipleOf cannot be enforced for numbers that are not integers");
  if (noMultiples.includes(1)) return undefined;
  const others = multiples.filter((multiple) => multiple !== 1);
  if (others.length + noMultiples.length === 0) return numberRule({ ...set, kind, multiples: [] }, rules);
  return multiplesRule({ min, max }, { multiples: others, noMultiples }, rules);
}
