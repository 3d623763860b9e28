// Sets of JSON values: for each type, the alternatives of which a value may be any. They intersect type by type.
import { anyArrays, arraysWithout, commonArrays, type ArrayValues } from "./array-values.ts";
import { anyNumbers, commonNumbers, numbersWithout, type NumberValues } from "./number-values.ts";
import {
  anyObjects,
  commonObjects,
  hasNoObjects,
  objectsWithout,
  type ObjectContext,
  type ObjectValues,
} from "./object-values.ts";
import { cannotEnforce } from "./rules.ts";
import {
  anyStrings,
  commonStrings,
  stringsWithout,
  type StringReader,
  type StringValues,
} from "./string-values.ts";

export interface ValueSet {
  readonly hasNull: boolean;
  readonly booleans: readonly boolean[];
  readonly numbers: readonly NumberValues[];
  readonly strings: readonly StringValues[];
  readonly arrays: readonly ArrayValues[];
  readonly objects: readonly ObjectValues[];
  /** The types that the schema is about; none if it is about every value. Only they are generated. */
  readonly about: ReadonlySet<string>;
}

export const everything: ValueSet = {
  hasNull: true,
  booleans: [true, false],
  numbers: [anyNumbers],
  strings: [anyStrings],
  arrays: [anyArrays],
  objects: [anyObjects],
  about: new Set(),
};

export const nothing: ValueSet = {
  hasNull: false,
  booleans: [],
  numbers: [],
  strings: [],
  arrays: [],
  objects: [],
  about: new Set(),
};

/** Alternatives of one type, after those of several keywords were combined. */
const alternativesMax = 2_000;

/** To intersect two sets of objects, beside the work on their properties. */
const stepsPerObject = 8;

export interface SetContext extends ObjectContext {
  readonly strings: StringReader;
}

export function isNothing(set: ValueSet): boolean {
  const lists = [set.booleans, set.numbers, set.strings, set.arrays, set.objects];
  return !set.hasNull && lists.every((list) => list.length === 0);
}

export function eitherSet(sets: readonly ValueSet[]): ValueSet {
  const [first = nothing] = sets;
  if (sets.length === 1) return first;
  return {
    hasNull: sets.some(({ hasNull }) => hasNull),
    booleans: [true, false].filter((value) => sets.some(({ booleans }) => booleans.includes(value))),
    numbers: alternatives(
      sets.map(({ numbers }) => numbers),
      anyNumbers,
    ),
    strings: alternatives(
      sets.map(({ strings }) => strings),
      anyStrings,
    ),
    arrays: alternatives(
      sets.map(({ arrays }) => arrays),
      anyArrays,
    ),
    objects: alternatives(
      sets.map(({ objects }) => objects),
      anyObjects,
    ),
    about: sets.some((set) => isAboutAll(set)) ? new Set() : new Set(sets.flatMap(({ about }) => [...about])),
  };
}

function isAboutAll(set: ValueSet): boolean {
  return set.about.size === 0 && !isNothing(set);
}

function alternatives<Values>(lists: readonly (readonly Values[])[], any: Values): Values[] {
  const all = [...new Set(lists.flat())];
  return all.includes(any) ? [any] : all;
}

/** Names the keyword whose alternatives are too many. */
export function commonSet(one: ValueSet, other: ValueSet, keyword: string, context: SetContext): ValueSet {
  if (one === everything) return other;
  if (other === everything) return one;
  const { strings } = context;
  const pairs = <Values>(
    some: readonly Values[],
    others: readonly Values[],
    common: (one: Values, other: Values) => Values | undefined,
  ): Values[] => {
    const count = some.length * others.length;
    if (count > alternativesMax) throw tooMany(keyword);
    context.spend(count);
    return some.flatMap((each) =>
      others.map((its) => common(each, its)).filter((found) => found !== undefined),
    );
  };
  const objects = pairs(one.objects, other.objects, (a, b) => {
    context.spend(stepsPerObject + a.layers.length + a.required.length + b.layers.length + b.required.length);
    return commonObjects(a, b);
  });
  const isUnion = one.objects.length > 1 || other.objects.length > 1;
  return {
    hasNull: one.hasNull && other.hasNull,
    booleans: one.booleans.filter((value) => other.booleans.includes(value)),
    numbers: pairs(one.numbers, other.numbers, commonNumbers),
    strings: pairs(one.strings, other.strings, (a, b) => commonStrings(a, b, strings)),
    arrays: pairs(one.arrays, other.arrays, commonArrays),
    objects: isUnion ? objects.filter((set) => !hasNoObjects(set, context)) : objects,
    about: commonTypes(one.about, other.about),
  };
}

function tooMany(keyword: string): Error {
  return cannotEnforce(
    `${keyword} cannot be enforced: combined, they are more than ${alternativesMax} alternatives`,
  );
}

function commonTypes(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  if (one.size === 0) return other;
  if (other.size === 0) return one;
  const common = new Set([...one].filter((type) => other.has(type)));
  return common.size === 0 ? one : common;
}

/** The values of `one` that are not in `other`. `isClosed`: see `objectsWithout`. */
export function setWithout(
  one: ValueSet,
  other: ValueSet,
  keyword: string,
  isClosed: boolean,
  context: SetContext,
): ValueSet {
  const left = <Values>(
    some: readonly Values[],
    others: readonly Values[],
    without: (one: Values, other: Values) => Values[] | undefined,
  ): Values[] => {
    let rest = [...some];
    for (const removed of others) {
      rest = rest.flatMap((each) => {
        context.spend(1);
        const found = without(each, removed);
        if (found === undefined) throw cannotEnforce(`${keyword} cannot be enforced beside format`);
        return found;
      });
      if (rest.length > alternativesMax) throw tooMany(keyword);
    }
    return rest;
  };
  const { strings, parts } = context;
  return {
    hasNull: one.hasNull && !other.hasNull,
    booleans: one.booleans.filter((value) => !other.booleans.includes(value)),
    numbers: left(one.numbers, other.numbers, (a, b) =>
      commonNumbers(a, b) === undefined ? [a] : numbersWithout(a, b),
    ),
    strings: left(one.strings, other.strings, (a, b) =>
      commonStrings(a, b, strings) === undefined ? [a] : stringsWithout(a, b, strings),
    ),
    arrays: left(one.arrays, other.arrays, (a, b) =>
      commonArrays(a, b) === undefined ? [a] : arraysWithout(a, b, parts),
    ),
    objects: left(one.objects, other.objects, (a, b) => {
      context.spend(stepsPerObject + a.layers.length + a.required.length);
      return objectsWithout(a, b, isClosed, context);
    }),
    about: one.about,
  };
}

/** Only the values of the types that the schema is about, if there are any. */
export function aboutOnly(set: ValueSet): ValueSet {
  const { about } = set;
  if (about.size === 0) return isEverything(set) ? everything : set;
  const is = (type: string): boolean => about.has(type);
  const chosen: ValueSet = {
    hasNull: set.hasNull && is("null"),
    booleans: is("boolean") ? set.booleans : [],
    numbers: is("number") ? set.numbers : [],
    strings: is("string") ? set.strings : [],
    arrays: is("array") ? set.arrays : [],
    objects: is("object") ? set.objects : [],
    about,
  };
  if (isNothing(chosen)) return set;
  return isEverything(chosen) ? everything : chosen;
}

function isEverything(set: ValueSet): boolean {
  return (
    set.hasNull &&
    set.booleans.length === 2 &&
    set.numbers[0] === everything.numbers[0] &&
    set.strings[0] === everything.strings[0] &&
    set.arrays[0] === everything.arrays[0] &&
    set.objects[0] === everything.objects[0]
  );
}
