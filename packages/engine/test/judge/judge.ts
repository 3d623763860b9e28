// Whether what a strict schema's grammar admits is valid for the schema, in the opinion of an independent validator.
import { EngineError, replyGrammar } from "../../src/index.ts";
import { draftKeywords, type SchemaObject } from "./random-schemas.ts";
import { Validation } from "./validation.ts";
import type { Draft } from "./validators.ts";
import { Walks } from "./walks.ts";

export interface Unsound {
  text: string;
  problem: string;
}

export type Verdict =
  /** Strict does not enforce the schema, and says why. */
  | { kind: "refused"; why: string }
  /** Strict does not enforce the schema, and its reason names nothing in it. */
  | { kind: "unnamed"; why: string }
  /** The grammar of the schema is none. */
  | { kind: "broken"; why: string }
  /** ajv makes nothing of the schema, or takes too long. */
  | { kind: "unjudged"; why: string }
  | Judged;

export interface Judged {
  kind: "judged";
  texts: number;
  distinct: number;
  /** Texts of the grammar's rules that the engine gives up on, because the grammar is too ambiguous. */
  lost: string[];
  /** Whether fewer texts than wanted were drawn, because the engine took too long. */
  isShort: boolean;
  unsound: Unsound[];
}

export interface JudgeOptions {
  /** Walks through the grammar. */
  texts: number;
  seed: number;
  /** The schema's drafts, if it does not name one. */
  drafts?: readonly Draft[];
}

/** Time to draw the texts of one schema: usually it is some ten milliseconds. */
export const drawingMsMax = 20_000;
/** Texts that are drawn before the time is looked at. */
const textsPerDraw = 10;

/** The grammar of the schema, or why strict refuses it. */
export function strictGrammar(schema: SchemaObject): { grammar: string } | { why: string } {
  try {
    return { grammar: replyGrammar({ type: "json_schema", schema: { ...schema }, strict: true }) };
  } catch (error) {
    if (!EngineError.is(error)) throw error;
    return { why: error.message };
  }
}

/** The two programs that it takes to judge a schema. */
export class Judge {
  readonly walks = new Walks();
  readonly #validation = new Validation();

  /** Leaves the grammar open in `walks` if it was judged. */
  async judge(schema: SchemaObject, options: JudgeOptions): Promise<Verdict> {
    const read = strictGrammar(schema);
    if ("why" in read) return { kind: namesReason(read.why, schema) ? "refused" : "unnamed", why: read.why };
    const broken = await this.walks.open(read.grammar);
    if (broken !== undefined) return { kind: "broken", why: broken };
    const { texts, lost, isShort } = await this.#draw(options);
    const distinct = [...new Set(texts)];
    const problems = await this.#validation.ask({ schema, texts: distinct, drafts: options.drafts });
    if ("why" in problems) return { kind: "unjudged", why: `not judged: ${problems.why}` };
    const unsound = distinct.flatMap((text, index) => {
      const problem = problems[index];
      return typeof problem === "string" ? [{ text, problem }] : [];
    });
    return { kind: "judged", texts: texts.length, distinct: distinct.length, lost, isShort, unsound };
  }

  async #draw({
    texts: count,
    seed,
  }: JudgeOptions): Promise<Pick<Judged, "lost" | "isShort"> & { texts: string[] }> {
    const start = performance.now();
    const all: { texts: string[]; lost: string[] } = { texts: [], lost: [] };
    for (let at = 0; at < count; at += textsPerDraw) {
      const { texts, lost } = await this.walks.draw(Math.min(textsPerDraw, count - at), seed * 1000 + at);
      all.texts.push(...texts);
      all.lost.push(...lost);
      if (performance.now() - start > drawingMsMax) return { ...all, isShort: at + textsPerDraw < count };
    }
    return { ...all, isShort: false };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.walks[Symbol.asyncDispose](), this.#validation[Symbol.asyncDispose]()]);
  }
}

/** Whether the reason of a refusal is a keyword of the schema, or a limit. */
function namesReason(why: string, schema: SchemaObject): boolean {
  const reasons =
    /too large|too deeply|too much work|more than \d+ characters|no value is valid|no number is between|no text/;
  const named = [...new Set(keysIn(schema))].some((key) => keywordsOfDrafts.has(key) && why.includes(key));
  return named || reasons.test(why);
}

const moreKeywords = ["$dynamicRef", "$recursiveRef", "$id", "id"];
const keywordsOfDrafts: ReadonlySet<string> = new Set([
  ...draftKeywords("draft2020-12"),
  ...draftKeywords("draft7"),
  ...moreKeywords,
]);

function keysIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const below = Object.values(schema).flatMap(keysIn);
  return Array.isArray(schema) ? below : [...Object.keys(schema), ...below];
}
