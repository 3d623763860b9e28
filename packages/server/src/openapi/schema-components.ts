// Writes zod schemas as JSON Schema. Schemas with an id in their meta go to components/schemas under that id, once.
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";

export type JsonSchema = z.core.JSONSchema.JSONSchema;

export interface SchemaComponents {
  /** By id; grows as schemas are written. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /**
   * Returns the schema for use in the document: a reference if it has an id. Throws if it cannot be written as JSON
   * Schema, or if its id, or that of a part, already belongs to a different schema.
   */
  readonly write: (schema: z.ZodType) => JsonSchema;
}

export function schemaComponents(): SchemaComponents {
  const schemas: Record<string, JsonSchema> = {};

  function add(id: string, schema: JsonSchema): void {
    const known = schemas[id];
    if (known !== undefined && !isDeepStrictEqual(known, schema))
      throw new Error(`Two different schemas have the id ${id}.`);
    schemas[id] = schema;
  }

  function write(schema: z.ZodType): JsonSchema {
    // The input side: responses are not transformed, and parts that they share with requests are then the same in both.
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

/** A rule that only code can check describes its input in its meta. */
function leaveToMeta({ zodSchema }: { zodSchema: z.core.$ZodType }): "any" | "throw" {
  return zodSchema._zod.def.type === "custom" ? "any" : "throw";
}

function tidy({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: JsonSchema }): void {
  // Additional fields are always allowed, so this need not be stated.
  if (isDeepStrictEqual(jsonSchema.additionalProperties, {})) delete jsonSchema.additionalProperties;
  // zod omits the default of transformed fields, such as those that read null as absent.
  const fallback = z.globalRegistry.get(zodSchema)?.["default"];
  if (fallback !== undefined) jsonSchema.default = fallback;
  // Every integer is safe; repeating it would hide the meaningful bounds.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
