// The required form of a reply's text, and the grammar that enforces it.
import { z } from "zod";
import { invalidRequest } from "./errors.ts";
import { depthOf } from "./structured/schema-keywords.ts";
import { jsonObjectRules, schemaRules } from "./structured/json-schema.ts";
import { keptRules, SchemaError, wholeGrammarOf } from "./structured/rules.ts";

/** Maximum length of a grammar, or of a schema as JSON, in UTF-16 units. */
const formatLengthMax = 256 * 1024;

export const ResponseFormat = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("text") }),
    /** Any JSON object. */
    z.object({ type: z.literal("json") }),
    /** A JSON value that matches this schema. `strict` refuses keywords that cannot be enforced; otherwise they are ignored. */
    z.object({
      type: z.literal("json_schema"),
      schema: z.record(z.string(), z.unknown()),
      strict: z.boolean().default(false),
    }),
    /** A text that matches this grammar, in llama.cpp's notation GBNF. */
    z.object({ type: z.literal("grammar"), grammar: z.string().min(1).max(formatLengthMax) }),
  ])
  .meta({ id: "ResponseFormat" });
export type ResponseFormat = z.infer<typeof ResponseFormat>;

/** The grammar for a whole reply of this format; empty if any text is allowed. */
export function wholeGrammar(format: ResponseFormat): string {
  if (format.type === "grammar") return format.grammar;
  const rules = contentRules(format);
  return rules === "" ? "" : wholeGrammarOf(rules);
}

/** Maximum nesting depth of a schema as JSON; each nested schema takes two or three levels. */
const schemaDepthMax = 256;

/** The grammar rules for JSON of this format; empty for other formats. Throws `invalid_request`. */
export function contentRules(format: ResponseFormat): string {
  if (format.type === "json") return jsonObjectRules();
  if (format.type !== "json_schema") return "";
  // JSON.stringify recurses.
  if (depthOf(format.schema) > schemaDepthMax)
    throw invalidRequest("responseFormat", "the schema is nested too deeply.");
  const schema = JSON.stringify(format.schema);
  if (schema.length > formatLengthMax)
    throw invalidRequest("responseFormat", `the schema has more than ${formatLengthMax} characters.`);
  return keptRules(`${format.strict}${schema}`, () => rulesOf(format.schema, format.strict));
}

function rulesOf(schema: unknown, isStrict: boolean): string {
  try {
    return schemaRules(schema, isStrict);
  } catch (error) {
    if (error instanceof SchemaError) throw invalidRequest("responseFormat", `${error.message}.`, error);
    throw error;
  }
}
