// Fields that clients send and the server ignores. They are accepted so that clients keep working, marked as ignored in the
// API description, and named in a response header.
import { z } from "zod";

import { optionalField } from "./field.ts";

const ignoredFields = new WeakSet<z.ZodType>();

/**
 * `harmless` are the values that request what the server does anyway; so does an empty list. A checked body has only `true` for
 * any other value: millions of numbers would pass from the checking thread to the server's for nothing.
 */
export function ignoredField(description: string, harmless: readonly (string | number | boolean)[] = []) {
  const values = new Set<unknown>(harmless);
  const isHarmless = (value: unknown): boolean =>
    value === undefined || values.has(value) || (Array.isArray(value) && value.length === 0);
  const schema = optionalField(
    z.unknown().transform((value) => (isHarmless(value) ? undefined : true)),
    `Ignored: ${description}.`,
  );
  ignoredFields.add(schema);
  return schema;
}

/** The names of the ignored fields in a checked body, except those whose value changes nothing. */
export function findIgnoredFields(schema: unknown, body: unknown): string[] {
  if (!(schema instanceof z.ZodObject) || typeof body !== "object" || body === null) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) =>
    ignoredFields.has(field) && Reflect.get(body, name) !== undefined ? [name] : [],
  );
}

/** Other servers' limits. */
export const ignoredLimits = { n_predict: ignoredField("use max_tokens") };

/** Fields of hosted services. */
export const ignoredService = {
  service_tier: ignoredField("there is one service tier", ["auto", "default", "standard", "standard_only"]),
  prompt_cache_retention: ignoredField("the prefix cache keeps prompts as long as memory allows"),
};
