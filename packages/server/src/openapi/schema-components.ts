// zod schemas as JSON Schema. Those with an id in their meta stand once under components/schemas, by that id.
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";

export type JsonSchema = z.core.JSONSchema.JSONSchema;

export interface SchemaComponents {
  /** By id; grows with what is written. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /**
   * The schema as a part of the document: a reference when it has an id. Throws when it cannot be written as JSON
   * Schema, and when its id, or that of a part, already means something else.
   */
  readonly write: (schema: z.ZodType) => JsonSchema;
}

export function schemaComponents(): SchemaComponents {
  const schemas: Record<string, JsonSchema> = {};

  function add(id: string, schema: JsonSchema): void {
    const known = schemas[id];
    if (known !== undefined && !isDeepStrictEqual(known, schema))
      throw new Error(`Two schemas have the id ${id} and are not the same.`);
    schemas[id] = schema;
  }

  function write(schema: z.ZodType): JsonSchema {
    // As it comes in: an answer is not transformed, and a part that it shares with a request is the same in both.
    const whole = z.toJSONSchema(schema, { io: "input", unrepresentable: leaveToMeta, override: tidy });
    const { $schema: _, $defs: parts = {}, ...own } = relocated(whole);
    for (const [id, part] of Object.entries(parts)) add(id, part);
    return own;
  }

  return { schemas, write };
}

function relocated(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'));
}

/** A rule that only code can check says in its meta what it takes. */
function leaveToMeta({ zodSchema }: { zodSchema: z.core.$ZodType }): "any" | "throw" {
  return zodSchema._zod.def.type === "custom" ? "any" : "throw";
}

function tidy({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }): void {
  // That other fields may be there goes without saying.
  if (isDeepStrictEqual(jsonSchema.additionalProperties, {})) delete jsonSchema.additionalProperties;
  // zod leaves out the default of a field that is transformed, as those are that read null as absent.
  const fallback = z.globalRegistry.get(zodSchema)?.["default"];
  if (fallback !== undefined) jsonSchema.default = fallback;
  // Every integer is a safe one; saying it of each would hide the bounds that mean something.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
