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
      z.looseObject({ type: z.literal("json_object") }),
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
  grammar: optionalField(
    z
      .string("grammar must be a string")
      .max(grammarLengthMax, `grammar must be at most ${grammarLengthMax} characters`),
    { description: "A GBNF grammar of the whole reply; the empty text is none. Not with response_format." },
  ),
};

export type FormatFields = z.infer<z.ZodObject<typeof formatFields>>;

/** Whether tools may be called: a reply that may be a call has no other form. */
export function mayCall(request: { tools?: readonly unknown[] | undefined; tool_choice?: unknown }): boolean {
  return (request.tools ?? []).length > 0 && request.tool_choice !== "none";
}

/** Of the field that says the form. */
export function formOrToolsRule(field: string): string {
  return `${field} and tools exclude each other: leave one out, or set tool_choice to none`;
}

/** Adds an issue when a grammar stands beside another form, or a form beside tools that may be called. */
export function refineFormat(
  request: FormatFields & { tools?: readonly unknown[] | undefined; tool_choice?: unknown },
  context: z.RefinementCtx,
): void {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: "custom", path: [field], message });
  const hasGrammar = request.grammar !== undefined && request.grammar !== "";
  if (hasGrammar && request.response_format !== undefined) {
    refuse("grammar", "grammar and response_format exclude each other: give one of them");
  }
  const hasForm = hasGrammar || (request.response_format?.type ?? "text") !== "text";
  if (hasForm && mayCall(request)) {
    const field = hasGrammar ? "grammar" : "response_format";
    refuse(field, formOrToolsRule(field));
  }
}
