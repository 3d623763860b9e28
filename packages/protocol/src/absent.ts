// How `null` is read in a request: as if the field were not there. Used by every optional field of a request.
import type { z } from "zod";

/**
 * Makes a field optional and lets `null` mean absent, so that whoever reads a parsed request meets only `undefined`.
 */
export function optionalField<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();
}
