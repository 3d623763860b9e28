// Strings and integers with bounds. Each has one rule, which names the field and is the error for whatever breaks it.
import { z } from "zod";

/** `min` and `max` count UTF-16 units; `hint` ends the rule. */
export function stringField(
  name: string,
  { min = 0, max, hint = "" }: { min?: number; max: number; hint?: string },
) {
  const length = min === 0 ? `at most ${max}` : `${min} to ${max}`;
  const rule = `${name} must be a string of ${length} characters${hint}`;
  const text = z.string(rule).max(max, rule);
  return min === 0 ? text : text.min(min, rule);
}

/** Without `max`, any safe integer of at least `min`. */
export function integerField(name: string, { min, max }: { min: number; max?: number }) {
  const rule = integerRule(name, { min, max });
  const integer = z.int(rule).min(min, rule);
  return max === undefined ? integer : integer.max(max, rule);
}

/** The same in a query string. */
export function integerParameter(name: string, bounds: { min: number; max: number }) {
  const rule = integerRule(name, bounds);
  return z.coerce.number(rule).int(rule).min(bounds.min, rule).max(bounds.max, rule);
}

function integerRule(name: string, { min, max }: { min: number; max?: number | undefined }): string {
  return `${name} must be an integer ${max === undefined ? `of at least ${min}` : `from ${min} to ${max}`}`;
}

/** The most characters of an unknown `type` that an error repeats. */
const shownTypeMax = 64;

/**
 * The error of a union that is discriminated by `type`. It repeats the unknown type; `reasons` explains why some types are
 * refused.
 */
export function typeRule(rule: string, reasons: ReadonlyMap<string, string> = new Map()) {
  return {
    error: ({ input }: { input?: unknown }): string => {
      const type: unknown = typeof input === "object" && input !== null ? Reflect.get(input, "type") : input;
      if (typeof type !== "string") return rule;
      return reasons.get(type) ?? `${rule}, not ${JSON.stringify(type.slice(0, shownTypeMax))}`;
    },
  };
}
