// Checks the size of a value before zod validates it. zod creates an issue for each wrong entry, and a body may hold millions
// of them.
import { z } from "zod";

/** Validates with `schema` only values that `isSmallEnough` accepts; any other value is one issue with the message `rule`. */
export function sizePrecheck<Schema extends z.ZodType>(
  schema: Schema,
  isSmallEnough: (value: unknown) => boolean,
  rule: string,
) {
  return z.preprocess((value: z.input<Schema>, context) => {
    if (isSmallEnough(value)) return value;
    // Without `continue: false`, refinements of several fields would run without this field's value.
    context.addIssue({ code: "custom", message: rule, input: value, continue: false });
    return z.NEVER;
  }, schema);
}

/** Whether an object has at most `max` entries. Anything else passes; its schema refuses it. */
export function hasEntriesAtMost(max: number): (value: unknown) => boolean {
  return (value) => typeof value !== "object" || value === null || Object.keys(value).length <= max;
}

/** Whether an array has at most `max` items. Anything else passes; its schema refuses it. */
export function hasItemsAtMost(max: number): (value: unknown) => boolean {
  return (value) => !Array.isArray(value) || value.length <= max;
}

/** An array whose length is checked before its items. `countRule` is the error for a wrong length. */
export function arrayOf<Item extends z.ZodType>(
  item: Item,
  rule: string,
  { min, max, countRule = rule }: { min?: number; max: number; countRule?: string },
) {
  const items = z.array(item, rule).max(max, countRule);
  return sizePrecheck(min === undefined ? items : items.min(min, countRule), hasItemsAtMost(max), countRule);
}
