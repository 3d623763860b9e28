// Whether what a strict schema's grammar admits is valid for the schema, in the opinion of an independent validator.
import { EngineError, wholeGrammar } from "../../src/index.ts";
import { validatorOf, type Draft } from "./validators.ts";
import type { Walks } from "./walks.ts";

export type SchemaObject = Readonly<Record<string, unknown>>;

export interface Unsound {
  text: string;
  problem: string;
}

export type Verdict =
  /** Strict does not enforce the schema, and says why. */
  | { kind: "refused"; why: string }
  /** The grammar of the schema is none. */
  | { kind: "broken"; why: string }
  /** ajv makes nothing of the schema. */
  | { kind: "unjudged" }
  | { kind: "judged"; texts: number; distinct: number; lost: string[]; unsound: Unsound[] };

export interface JudgeOptions {
  /** Walks through the grammar. */
  texts: number;
  seed: number;
  /** The schema's drafts, if it does not name one. */
  drafts?: readonly Draft[];
}

/** The grammar of the schema, or why strict refuses it. */
export function strictGrammar(schema: SchemaObject): { grammar: string } | { why: string } {
  try {
    return { grammar: wholeGrammar({ type: "json_schema", schema: { ...schema }, strict: true }) };
  } catch (error) {
    if (!EngineError.is(error)) throw error;
    return { why: error.message };
  }
}

/** Leaves the grammar open in `walks` unless it was refused or broken. */
export async function judge(schema: SchemaObject, walks: Walks, options: JudgeOptions): Promise<Verdict> {
  const read = strictGrammar(schema);
  if ("why" in read) return { kind: "refused", why: read.why };
  const broken = await walks.open(read.grammar);
  if (broken !== undefined) return { kind: "broken", why: broken };
  const validator = validatorOf(schema, options.drafts);
  if (validator === undefined) return { kind: "unjudged" };
  const { texts, lost } = await walks.draw(options.texts, options.seed);
  const distinct = new Set(texts);
  const unsound: Unsound[] = [];
  for (const text of distinct) {
    const problem = problemIn(text, validator.problemOf);
    if (problem !== undefined) unsound.push({ text, problem });
  }
  return {
    kind: "judged",
    texts: texts.length,
    distinct: distinct.size,
    lost,
    unsound,
  };
}

function problemIn(text: string, problemOf: (value: unknown) => string | undefined): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "no JSON";
  }
  return problemOf(value);
}

/** Why the schema was refused, in the words of a schema: the keyword, the format or the limit. */
export function namesReason(why: string, schema: SchemaObject): boolean {
  const reasons =
    /too large|too deeply|too much work|more than \d+ characters|no value is valid|no number is between|no text/;
  const named = [...new Set(keysIn(schema))].some((key) => why.includes(key));
  return named || reasons.test(why);
}

function keysIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const below = Object.values(schema).flatMap(keysIn);
  return Array.isArray(schema) ? below : [...Object.keys(schema), ...below];
}
