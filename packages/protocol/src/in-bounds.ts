// A look at a value before zod goes through it: it makes an issue for each wrong entry, and one body may hold millions.
// Used where the limits let many entries pass, or where zod would count them too late.
import { z } from "zod";

/** `schema`, for values that `isInBounds` accepts; any other is one issue that says `rule`. */
export function inBounds<Schema extends z.ZodType>(
  schema: Schema,
  isInBounds: (value: unknown) => boolean,
  rule: string,
) {
  return z.preprocess((value: z.input<Schema>, context) => {
    if (isInBounds(value)) return value;
    // What looks at several fields would meet no value here.
    context.addIssue({ code: "custom", message: rule, input: value, continue: false });
    return z.NEVER;
  }, schema);
}

/** An object with more than `max` entries is out of bounds; what else is none is said by its schema. */
export function hasAtMost(max: number): (value: unknown) => boolean {
  return (value) => typeof value !== "object" || value === null || Object.keys(value).length <= max;
}

/** The same of an array's items. */
export function hasItemsAtMost(max: number): (value: unknown) => boolean {
  return (value) => !Array.isArray(value) || value.length <= max;
}

/** An array that is counted before its items are looked at; `ofCount` is the rule of their number. */
export function arrayOf<Item extends z.ZodType>(
  item: Item,
  rule: string,
  { min, max, ofCount = rule }: { min?: number; max: number; ofCount?: string },
) {
  const items = z.array(item, rule).max(max, ofCount);
  return inBounds(min === undefined ? items : items.min(min, ofCount), hasItemsAtMost(max), ofCount);
}
