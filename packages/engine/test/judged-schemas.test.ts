// What a strict schema's grammar admits is valid for the schema: an independent validator judges random texts of random schemas.
// docs/testing.md has the command for a million texts.
import { afterAll, beforeAll, expect, it } from "vitest";
import { Judge } from "./judge/judge.ts";
import { combinations, draftKeywords, randomSchemas, type SchemaObject } from "./judge/random-schemas.ts";
import type { Draft } from "./judge/validators.ts";

let judge: Judge;
beforeAll(() => {
  judge = new Judge();
});
afterAll(async () => {
  await judge[Symbol.asyncDispose]();
});

/** What is wrong with the grammar of the schema, or with the way in which it was refused. */
async function findFault(schema: SchemaObject, texts: number, draft: Draft): Promise<unknown> {
  const verdict = await judge.judge(schema, { texts, seed: 1, drafts: [draft] });
  switch (verdict.kind) {
    case "refused":
      return undefined;
    case "judged":
      if (verdict.texts === 0) return { schema, why: "the grammar has no text" };
      return verdict.unsound.length === 0 ? undefined : { schema, ...verdict.unsound[0] };
    default:
      return { schema, ...verdict };
  }
}

async function faults(schemas: readonly SchemaObject[], texts: number, draft: Draft): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const schema of schemas) {
    const fault = await findFault(schema, texts, draft);
    if (fault !== undefined) found.push(fault);
  }
  return found;
}

/** A test judges about a thousand schemas, in seconds; beside other work in ten times as long. */
const msMax = 120_000;

it.each([
  { size: 2, every: 1, amount: 2, draft: "draft2020-12" },
  { size: 3, every: 16, amount: 1, draft: "draft2020-12" },
  { size: 3, every: 32, amount: 1, draft: "draft7" },
  { size: 2, every: 1, amount: 1, draft: "draft4" },
] as const)(
  "texts of a grammar are valid for their schema, or strict refuses it by name: sets of $size keywords of $draft",
  { timeout: msMax },
  async ({ size, every, amount, draft }) => {
    const sets = combinations(size, draftKeywords(draft)).filter((_keywords, at) => at % every === 0);
    const schemas = sets.flatMap((keywords, at) => randomSchemas(keywords, amount, at, draft));
    expect(await faults(schemas, 30, draft)).toEqual([]);
  },
);
