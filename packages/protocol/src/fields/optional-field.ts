// Optional fields of requests: `null` means the same as leaving the field out.
import { z } from "zod";

/** What the API description says about a field, besides its type and bounds. */
export interface FieldMeaning {
  description?: string;
  /** The value assumed if the field is absent; left out if it depends on the server or the model. */
  default?: unknown;
}

/**
 * Makes a field optional and turns `null` into absent, so that code behind the schema only meets `undefined`. The default is
 * only documented, never filled in.
 */
export function optionalField<Schema extends z.ZodType>(schema: Schema, meaning: FieldMeaning = {}) {
  return schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional()
    .meta({ ...meaning });
}

/** An optional boolean; its error names the field. */
export function flag(name: string, meaning: FieldMeaning = {}) {
  return optionalField(z.boolean(`${name} must be true or false`), meaning);
}

/** A field that would change what a reply is, and that the server does not support: any value is an error. */
export function refusedField(message: string) {
  return optionalField(z.never(message), { description: `Refused: ${message}.` });
}
