// The form of a reply: text, JSON, JSON of a schema, or text that follows a grammar.
import { z } from "zod";

import { optionalField, refuseField } from "./field.ts";

/** Maximum length of a grammar, in UTF-16 units. */
export const grammarLengthMax = 256 * 1024;

/** A JSON schema, by the field that holds it. */
export function jsonSchemaField(name: string) {
  return z.record(z.string(), z.unknown(), `${name} must be a JSON schema: an object`);
}

/** The fields of a format whose reply is JSON of a schema. */
export const schemaFields = {
  name: optionalField(z.string("name must be a string")),
  schema: jsonSchemaField("schema"),
  strict: optionalField(
    z.boolean("strict must be true or false"),
    "Refuses schema keywords that cannot be enforced; otherwise they are ignored.",
    false,
  ),
};

/** The format of the reply's content. */
export const ResponseFormat = z
  .discriminatedUnion(
    "type",
    [
      z.looseObject({ type: z.literal("text") }),
      z.looseObject({
        type: z.literal("json_object"),
        schema: optionalField(
          schemaFields.schema,
          "A schema for the object. The empty one means any object.",
        ),
      }),
      z.looseObject({
        type: z.literal("json_schema"),
        json_schema: z.looseObject(schemaFields, "json_schema must be an object with a schema"),
      }),
    ],
    "response_format must be an object whose type is text, json_object or json_schema",
  )
  .meta({ id: "ResponseFormat" });
export type ResponseFormat = z.infer<typeof ResponseFormat>;

/** The fields by their wire names. */
export const formatFields = {
  response_format: optionalField(ResponseFormat, "The form of the reply: text, JSON, or JSON of a schema.", {
    type: "text",
  }),
  json_schema: optionalField(
    jsonSchemaField("json_schema"),
    "The reply is JSON of this schema; the same as a schema in response_format.",
  ),
  grammar: optionalField(
    z
      .string("grammar must be a string")
      .max(grammarLengthMax, `grammar must be at most ${grammarLengthMax} characters`),
    "A GBNF grammar for the whole reply; the empty string means none. Cannot be combined with another form or with tools.",
  ),
};

export type FormatFields = z.infer<z.ZodObject<typeof formatFields>>;

/** Adds an issue if the request gives two forms, or a grammar of the whole reply and tools that may be called. */
export function refineFormat(
  request: FormatFields & { tools?: readonly unknown[] | undefined; tool_choice?: unknown },
  context: z.RefinementCtx,
): void {
  const refuse = (field: string, message: string) => refuseField(context, field, message);
  const { response_format: format, json_schema: schema, grammar = "", tools = [], tool_choice } = request;
  if (schema !== undefined && hasSchema(format))
    refuse("json_schema", "json_schema and response_format both give a schema: give one of them");
  if (grammar === "") return;
  if (format !== undefined || schema !== undefined) {
    const other = format === undefined ? "json_schema" : "response_format";
    refuse("grammar", `grammar and ${other} exclude each other: give one of them`);
  }
  if (tools.length > 0 && tool_choice !== "none")
    refuse("grammar", "grammar and tools exclude each other: leave one out, or set tool_choice to none");
}

function hasSchema(format: ResponseFormat | undefined): boolean {
  return format?.type === "json_schema" || (format?.type === "json_object" && format.schema !== undefined);
}
