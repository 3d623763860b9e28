// The form that a reply must have: JSON, JSON of a schema, or a text of a grammar. Used by chat.ts, and for the form of a
// schema by responses/tools.ts.
import { z } from "zod";

import { optionalField } from "./absent.ts";

/** Most UTF-16 units of a grammar. */
export const grammarLengthMax = 256 * 1024;

const schemaRule = "schema must be a JSON schema: an object";

/** What says that the reply is JSON of a schema. */
export const schemaFields = {
  name: optionalField(z.string("name must be a string")),
  schema: z.record(z.string(), z.unknown(), schemaRule),
  strict: optionalField(z.boolean("strict must be true or false"), {
    description: "Refuses keywords of the schema that cannot be enforced, which are passed over otherwise.",
    default: false,
  }),
};

/** How the reply's content is written. */
export const ResponseFormat = z
  .discriminatedUnion(
    "type",
    [
      z.looseObject({ type: z.literal("text") }),
      z.looseObject({
        type: z.literal("json_object"),
        schema: optionalField(schemaFields.schema, {
          description: "Makes it an object of this schema. The empty one is none.",
        }),
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
  response_format: optionalField(ResponseFormat, {
    description: "The form of the reply: text, JSON, or JSON of a schema.",
    default: { type: "text" },
  }),
  json_schema: optionalField(
    z.record(z.string(), z.unknown(), "json_schema must be a JSON schema: an object"),
    {
      description: "The reply is JSON of this schema; another place for that of response_format.",
    },
  ),
  grammar: optionalField(
    z
      .string("grammar must be a string")
      .max(grammarLengthMax, `grammar must be at most ${grammarLengthMax} characters`),
    {
      description:
        "A GBNF grammar of the whole reply; the empty text is none. Not with another form, nor with tools.",
    },
  ),
};

export type FormatFields = z.infer<z.ZodObject<typeof formatFields>>;

/** Adds an issue when two forms are asked for, or a grammar of the whole reply beside tools that may be called. */
export function refineFormat(
  request: FormatFields & { tools?: readonly unknown[] | undefined; tool_choice?: unknown },
  context: z.RefinementCtx,
): void {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: "custom", path: [field], message });
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
