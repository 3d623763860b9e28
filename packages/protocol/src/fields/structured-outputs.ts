// vLLM's field for the form of a reply.
import { z } from "zod";

import { flag, optionalField, refuseField, refusedField, stringField } from "./field.ts";

/** Limits of the engine's, which checks them again. */
const choicesMax = 1_024;
const choiceLengthMax = 4_096;
const patternLengthMax = 2_000;
export const grammarLengthMax = 256 * 1024;

const jsonRule = "json must be a JSON schema: an object, or its JSON text";
const choiceRule = `choice must be an array of 1 to ${choicesMax} texts of 1 to ${choiceLengthMax} characters`;

/** The text of an object becomes the object. */
const jsonText = z
  .string(jsonRule)
  .max(grammarLengthMax, jsonRule)
  .transform((text, context): Record<string, unknown> => {
    const schema = z.record(z.string(), z.unknown()).safeParse(parsed(text));
    if (schema.success) return schema.data;
    context.addIssue({ code: "custom", message: jsonRule });
    return z.NEVER;
  });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An option that would change what the grammar allows. */
function absentOption(name: string) {
  const rule = `${name} is not supported; leave it out`;
  return optionalField(z.literal(false, rule), `Refused unless it is false: not supported.`);
}

const kinds = ["json", "json_object", "regex", "choice", "grammar"] as const;

export const StructuredOutputs = z
  .looseObject(
    {
      json: optionalField(
        z.union([z.record(z.string(), z.unknown()), jsonText], jsonRule),
        "JSON of this schema.",
      ),
      json_object: flag("json_object", "Any JSON object."),
      regex: optionalField(
        stringField("regex", { min: 1, max: patternLengthMax }),
        "A text that matches this regular expression as a whole; without lookarounds and backreferences.",
      ),
      choice: optionalField(
        z
          .array(z.string(choiceRule).min(1, choiceRule).max(choiceLengthMax, choiceRule), choiceRule)
          .min(1, choiceRule)
          .max(choicesMax, choiceRule),
        "One of these texts.",
      ),
      grammar: optionalField(
        stringField("grammar", { min: 1, max: grammarLengthMax }),
        "A text of this grammar in GBNF.",
      ),
      structural_tag: refusedField("structural_tag is not supported; use tools, or a grammar"),
      whitespace_pattern: refusedField("whitespace_pattern is not supported; leave it out"),
      disable_any_whitespace: absentOption("disable_any_whitespace"),
      disable_additional_properties: absentOption("disable_additional_properties"),
    },
    "structured_outputs must be an object with json, json_object, regex, choice or grammar",
  )
  .superRefine((given, context) => {
    const present = kinds.filter((kind) => given[kind] !== undefined && given[kind] !== false);
    if (present.length === 1) return;
    const rule = `structured_outputs must have exactly one of ${kinds.join(", ")}`;
    refuseField(context, present[1] ?? "json", rule);
  })
  .meta({ id: "StructuredOutputs", description: "The form of the reply, in vLLM's notation." });
export type StructuredOutputs = z.infer<typeof StructuredOutputs>;
