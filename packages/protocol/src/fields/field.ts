// The building blocks of requests and responses: fields with a rule, which names the field and is the error message for any
// violation, and objects that have a name in the API description.
import { z } from "zod";

/** An object of a response. */
export function responseObject<Fields extends z.ZodRawShape>(id: string, fields: Fields) {
  return z.object(fields).meta({ id });
}

/** An object of a request: unknown fields are ignored. */
export function requestObject<Fields extends z.ZodRawShape>(id: string, fields: Fields) {
  return z.looseObject(fields).meta({ id });
}

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

/** An integer in a query string. */
export function integerParameter(name: string, bounds: { min: number; max: number }) {
  const rule = integerRule(name, bounds);
  return z.coerce.number(rule).int(rule).min(bounds.min, rule).max(bounds.max, rule);
}

function integerRule(name: string, { min, max }: { min: number; max?: number | undefined }): string {
  return `${name} must be an integer ${max === undefined ? `of at least ${min}` : `from ${min} to ${max}`}`;
}

/** Maximum length of an unknown `type` that an error repeats, in characters. */
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

/**
 * Makes a field optional and turns `null` into absent, so that code behind the schema only meets `undefined`. The description and
 * the default are for the API description: a default is never filled in, and is omitted if it depends on the server or the model.
 */
export function optionalField<Schema extends z.ZodType>(
  schema: Schema,
  description?: string,
  byDefault?: unknown,
) {
  return schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional()
    .meta({ description, default: byDefault });
}

/** An optional boolean; its error names the field. */
export function flag(name: string, description?: string, byDefault?: boolean) {
  return optionalField(z.boolean(`${name} must be true or false`), description, byDefault);
}

/** The same, also as text: some programs send `"true"`. */
export function textFlag(name: string, description?: string, byDefault?: boolean) {
  const rule = `${name} must be true or false`;
  const text = z.enum(["true", "false"]).transform((value) => value === "true");
  return optionalField(z.union([z.boolean(), text], rule), description, byDefault);
}

/** A field that would change what a reply is, and that the server does not support: any value is an error. */
export function refusedField(message: string) {
  return optionalField(z.never(message), `Refused: ${message}.`);
}
/** Adds an issue to a field that contradicts another one. */
export function refuseField(context: z.RefinementCtx, field: string, message: string): void {
  context.addIssue({ code: "custom", path: [field], message });
}
