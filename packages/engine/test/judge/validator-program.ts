// ajv in a process of its own, for `Validation`: a regular expression of a schema can keep a validator busy for hours.
import type { Draft } from "./validators.ts";
import { createValidator } from "./validators.ts";

export interface Question {
  schema: Readonly<Record<string, unknown>>;
  texts: readonly string[];
  drafts: readonly Draft[] | undefined;
}

/** What is wrong with each text, in their order: null if it is valid. Or why ajv makes nothing of the schema. */
export type Answer = (string | null)[] | { why: string };

process.on("message", (question: Question) => {
  process.send?.(answerTo(question));
});

function answerTo({ schema, texts, drafts }: Question): Answer {
  const validator = createValidator(schema, drafts);
  if (typeof validator === "string") return { why: validator };
  try {
    return texts.map((text) => problemIn(text, validator.findProblem) ?? null);
  } catch (error) {
    return { why: `the validator fails: ${String(error)}` };
  }
}

function problemIn(text: string, findProblem: (value: unknown) => string | undefined): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "no JSON";
  }
  return findProblem(value);
}
