// The required form of a reply's text, and the grammar that enforces it.
import { z } from "zod";
import { invalidRequest } from "../base/errors.ts";
import { nestingDepth } from "./structured/schema-keywords.ts";
import { jsonObjectRules, schemaRules } from "./structured/json-schema.ts";
import { patternLengthMax, patternRule } from "./structured/pattern.ts";
import { cachedRules, literal, Rules, SchemaError, completeGrammar } from "./structured/rules.ts";

/** Maximum length of a grammar, or of a schema as JSON, in UTF-16 units. */
const formatLengthMax = 256 * 1024;

/** Maximum number of texts to choose from, and of characters in one. */
const choicesMax = 1_024;
const choiceLengthMax = 4_096;

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
    /** A text that matches this regular expression as a whole: JavaScript's, without lookarounds and backreferences. */
    z.object({ type: z.literal("regex"), pattern: z.string().min(1).max(patternLengthMax) }),
    /** One of these texts. */
    z.object({
      type: z.literal("choice"),
      choices: z.array(z.string().min(1).max(choiceLengthMax)).min(1).max(choicesMax),
    }),
    /** A text that matches this grammar, in llama.cpp's notation GBNF. */
    z.object({ type: z.literal("grammar"), grammar: z.string().min(1).max(formatLengthMax) }),
  ])
  .meta({ id: "ResponseFormat" });
export type ResponseFormat = z.infer<typeof ResponseFormat>;

/** The grammar for a whole reply of this format; empty if any text is allowed. */
export function replyGrammar(format: ResponseFormat): string {
  if (format.type === "grammar") return format.grammar;
  const rules = contentRules(format);
  return rules === "" ? "" : completeGrammar(rules);
}

/** Maximum nesting depth of a schema as JSON; each nested schema takes two or three levels. */
const schemaDepthMax = 256;

/** The grammar rules for the text of this format; empty for other formats. Throws `invalid_request`. */
export function contentRules(format: ResponseFormat): string {
  if (format.type === "json") return jsonObjectRules();
  if (format.type === "regex")
    return cachedRules(`regex ${format.pattern}`, () =>
      rulesFor("responseFormat.regex", (rules) => patternRule(format.pattern, rules)),
    );
  if (format.type === "choice")
    return rulesFor("responseFormat.choice", (rules) => oneOf(format.choices, rules));
  if (format.type !== "json_schema") return "";
  // JSON.stringify recurses.
  if (nestingDepth(format.schema) > schemaDepthMax)
    throw invalidRequest("responseFormat", "the schema is nested too deeply.");
  const schema = JSON.stringify(format.schema);
  if (schema.length > formatLengthMax)
    throw invalidRequest("responseFormat", `the schema has more than ${formatLengthMax} characters.`);
  return cachedRules(`${format.strict}${schema}`, () => checkedSchemaRules(format.schema, format.strict));
}

function checkedSchemaRules(schema: unknown, isStrict: boolean): string {
  return orInvalid("responseFormat", () => schemaRules(schema, isStrict));
}

/** Rules for what `write` returns. */
function rulesFor(param: string, write: (rules: Rules) => string): string {
  const rules = new Rules();
  return orInvalid(param, () => rules.text(write(rules)));
}

function oneOf(choices: readonly string[], rules: Rules): string {
  for (const choice of choices) rules.spendOnText(choice);
  return choices.map(literal).join(" | ");
}

/** What `write` returns. A SchemaError becomes `invalid_request`. */
function orInvalid(param: string, write: () => string): string {
  try {
    return write();
  } catch (error) {
    if (error instanceof SchemaError) throw invalidRequest(param, `${error.message}.`, error);
    throw error;
  }
}
