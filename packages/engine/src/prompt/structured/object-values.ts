// Sets of objects by the keywords that restrict them: how they intersect, and what one lacks of another.
import { cannotEnforce } from "./rules.ts";
import { allOf, never, type Conjunction, type Parts } from "./schema-parts.ts";
import { lesser } from "./string-values.ts";

/** What one schema says about properties. */
export interface Layer {
  readonly properties: ReadonlyMap<string, Conjunction>;
  /** By regular expressions of names. */
  readonly patterns: readonly (readonly [pattern: string, value: Conjunction])[];
  /** The others. */
  readonly additional: Conjunction;
}

/** An object is in it if it satisfies all. */
export interface ObjectValues {
  readonly layers: readonly Layer[];
  readonly required: readonly string[];
  readonly min: number;
  readonly max: number | undefined;
  /** What each name is. */
  readonly names: Conjunction;
}

export const anyObjects: ObjectValues = { layers: [], required: [], min: 0, max: undefined, names: [] };

/** What objects need to know about strings and subschemas. */
export interface ObjectContext {
  readonly parts: Parts;
  matches: (name: string, pattern: string) => boolean;
  /** Whether no value is all of this; false also if that is not known. */
  isEmpty: (value: Conjunction) => boolean;
  spend: (steps: number) => void;
}

/** Undefined if it has no objects; the objects of others may also turn out to be none. */
export function commonObjects(one: ObjectValues, other: ObjectValues): ObjectValues | undefined {
  if (one === anyObjects) return other;
  if (other === anyObjects) return one;
  const common: ObjectValues = {
    layers: [...new Set([...one.layers, ...other.layers])],
    required: [...new Set([...one.required, ...other.required])],
    min: Math.max(one.min, other.min),
    max: lesser(one.max, other.max),
    names: allOf(one.names, other.names),
  };
  return common.max !== undefined && common.max < common.min ? undefined : common;
}

/** The names that the schema lists or requires, in its order. */
export function listedNames(set: ObjectValues): Set<string> {
  return new Set([...set.layers.flatMap(({ properties }) => [...properties.keys()]), ...set.required]);
}

/** What the value of a property is. */
export function propertyValue(set: ObjectValues, name: string, context: ObjectContext): Conjunction {
  let value: Conjunction = [];
  for (const { properties, patterns, additional } of set.layers) {
    const own = properties.get(name);
    if (patterns.length === 0) {
      value = allOf(value, own ?? additional);
      continue;
    }
    const matching = patterns.filter(([pattern]) => context.matches(name, pattern));
    if (own === undefined && matching.length === 0) value = allOf(value, additional);
    else value = [own ?? [], ...matching.map(([, its]) => its)].reduce(allOf, value);
  }
  context.spend(set.layers.length);
  return value;
}

/** Whether it certainly has no objects. */
export function hasNoObjects(set: ObjectValues, context: ObjectContext): boolean {
  return set.required.some((name) => context.isEmpty(propertyValue(set, name, context)));
}

/** The objects of which a property is this. */
function withProperty(name: string, value: Conjunction): Layer {
  return { properties: new Map([[name, value]]), patterns: [], additional: [] };
}

function without(set: ObjectValues, name: string): ObjectValues {
  return { ...set, layers: [...set.layers, withProperty(name, never)] };
}

function withRequired(set: ObjectValues, name: string, value: Conjunction): ObjectValues {
  const required = set.required.includes(name) ? set.required : [...set.required, name];
  return { ...set, required, layers: [...set.layers, withProperty(name, value)] };
}

/**
 * The objects of `one` that are not in `other`. Objects have only the properties that their own schema lists: beside
 * alternatives (`isClosed`), `one` lists none of those that only `other` does.
 */
export function objectsWithout(
  one: ObjectValues,
  other: ObjectValues,
  isClosed: boolean,
  context: ObjectContext,
): ObjectValues[] {
  const common = commonObjects(one, other);
  if (common === undefined || hasNoObjects(common, context)) return [one];
  const own = listedNames(one);
  const foreign = [...listedNames(other)].filter((name) => !own.has(name));
  const base = isClosed ? foreign.reduce(without, one) : one;
  if (isClosed && other.required.some((name) => !own.has(name))) return [base];
  const names = isClosed ? own : new Set([...own, ...foreign]);
  const outside = [
    ...other.required.filter((name) => !one.required.includes(name)).map((name) => without(base, name)),
    ...other.layers.flatMap((layer) => withForbiddenProperty(layer, base, names, context)),
    ...(other.min > 0 ? [{ ...base, max: lesser(base.max, other.min - 1) }] : []),
    ...(other.max === undefined ? [] : [{ ...base, min: Math.max(base.min, other.max + 1) }]),
  ].filter(({ min, max }) => max === undefined || min <= max);
  const left = outside.filter((set) => !hasNoObjects(set, context));
  const isVague = other.names.length > 0 || other.layers.some(isAboutOthers);
  if (left.length === 0 && isVague)
    throw cannotEnforce("propertyNames and additionalProperties cannot be enforced inside not, oneOf and if");
  return left;
}

function isAboutOthers({ patterns, additional }: Layer): boolean {
  return patterns.length > 0 || additional.length > 0;
}

/** The objects of `base` with a property that the layer forbids. */
function withForbiddenProperty(
  layer: Layer,
  base: ObjectValues,
  names: ReadonlySet<string>,
  context: ObjectContext,
): ObjectValues[] {
  const alone: ObjectValues = { ...anyObjects, layers: [layer] };
  return [...names].flatMap((name) => {
    const allowed = propertyValue(alone, name, context);
    context.spend(1 + base.layers.length);
    return allowed.map((part) => withRequired(base, name, context.parts.not(part)));
  });
}
