// How `null` is read in a request: as if the field were not there. Used by every optional field of a request.
import type { z } from "zod";

/** What the API's description says of a field beside its type and its bounds. */
export interface FieldMeaning {
  description?: string;
  /** What is done where the field is absent; left out where that depends on the server or the model. */
  default?: unknown;
}

/**
 * Makes a field optional and lets `null` mean absent, so that whoever reads a parsed request meets only `undefined`.
 * The default is only told, never filled in: absent fields stay absent.
 */
export function optionalField<Schema extends z.ZodType>(schema: Schema, meaning: FieldMeaning = {}) {
  return schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional()
    .meta({ ...meaning });
}
