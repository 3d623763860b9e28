// The form of a reply: text, JSON, JSON of a schema, or text that follows a grammar.
import { z } from "zod";

import { optionalField, refuseField, textFlag } from "./field.ts";
import { grammarLengthMax, StructuredOutputs } from "./structured-outputs.ts";

/** A JSON schema, by the field that holds it. */
export function jsonSchemaField(name: string) {
  return z.record(z.string(), z.unknown(), `${name} must be a JSON schema: an object`);
}

/** The fields of a format whose reply is JSON of a schema. */
export const schemaFields = {
  name: optionalField(z.string("name must be a string")),
  schema: jsonSchemaField("schema"),
  strict: textFlag(
    "strict",
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

/** The same with vLLM's field. */
export const formatFieldsWithVllm = {
  ...formatFields,
  structured_outputs: optionalField(
    StructuredOutputs,
    "The form of the reply in vLLM's notation: json, json_object, regex, choice or grammar. Cannot be combined with another form.",
  ),
};

type FormatFields = Partial<z.infer<z.ZodObject<typeof formatFieldsWithVllm>>>;

/** Adds an issue if the request gives two forms, or a grammar of the whole reply and tools that may be called. */
export function refineFormat(
  request: FormatFields & { tools?: readonly unknown[] | undefined; tool_choice?: unknown },
  context: z.RefinementCtx,
): void {
  const refuse = (field: string, message: string) => refuseField(context, field, message);
  const { response_format: format, json_schema: schema, grammar = "", tools, tool_choice } = request;
  const { structured_outputs: structured } = request;
  // Where tools are an unknown field, nothing has made its null absent.
  const mayCall = (tools?.length ?? 0) > 0 && tool_choice !== "none";
  if (structured !== undefined) {
    const isOther = (format?.type ?? "text") !== "text" || schema !== undefined || grammar !== "";
    if (isOther)
      refuse(
        "structured_outputs",
        "structured_outputs excludes response_format, json_schema and grammar: give one of them",
      );
    if (structured.grammar !== undefined && mayCall)
      refuse(
        "structured_outputs",
        "a grammar and tools exclude each other: leave one out, or set tool_choice to none",
      );
  }
  if (schema !== undefined && hasSchema(format))
    refuse("json_schema", "json_schema and response_format both give a schema: give one of them");
  if (grammar === "") return;
  if (format !== undefined || schema !== undefined) {
    const other = format === undefined ? "json_schema" : "response_format";
    refuse("grammar", `grammar and ${other} exclude each other: give one of them`);
  }
  if (mayCall)
    refuse("grammar", "grammar and tools exclude each other: leave one out, or set tool_choice to none");
}

function hasSchema(format: ResponseFormat | undefined): boolean {
  return format?.type === "json_schema" || (format?.type === "json_object" && format.schema !== undefined);
}
