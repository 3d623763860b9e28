// Checks the size of a value before zod validates it, of token ids above all. zod creates an issue for each wrong entry, and a body may hold millions
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
export function boundedArray<Item extends z.ZodType>(
  item: Item,
  rule: string,
  { min, max, countRule = rule }: { min?: number; max: number; countRule?: string },
) {
  const items = z.array(item, rule).max(max, countRule);
  return sizePrecheck(min === undefined ? items : items.min(min, countRule), hasItemsAtMost(max), countRule);
}

/** Maximum number of token ids per list: as many as the longest known contexts hold. */
export const tokensMax = 1024 * 1024;

/** Token ids are 32-bit in the engine; no vocabulary has more. */
export const tokenIdMax = 0x7fff_ffff;

export function isTokenId(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= tokenIdMax;
}

/** Whether this is a list of token ids that is not too long. */
export function areTokenIds(value: unknown): boolean {
  return Array.isArray(value) && value.length <= tokensMax && value.every(isTokenId);
}

/** A list of token ids; `rule` is its error. It becomes one typed array, because it may have a million items. */
export function tokenIds(rule: string, { min = 1 }: { min?: number } = {}) {
  const id = z.int(rule).min(0, rule).max(tokenIdMax, rule);
  const ids = z.array(id, rule).min(min, rule).max(tokensMax, rule);
  const isValid = (value: unknown): boolean => !Array.isArray(value) || areTokenIds(value);
  return sizePrecheck(ids, isValid, rule).transform((each) => Int32Array.from(each));
}
