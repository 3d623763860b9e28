// What a strict schema's grammar admits is valid for the schema: an independent validator judges random texts of random schemas.
// docs/testing.md has the command for a million texts.
import { afterAll, beforeAll, expect, it } from "vitest";
import { judge, namesReason, type SchemaObject } from "./judge/judge.ts";
import { combinations, randomSchemas } from "./judge/random-schemas.ts";
import { Walks } from "./judge/walks.ts";

let walks: Walks;
beforeAll(() => {
  walks = new Walks();
});
afterAll(async () => {
  await walks[Symbol.asyncDispose]();
});

/** What is wrong with the grammar of the schema, or with the way in which it was refused. */
async function faultOf(schema: SchemaObject, texts: number): Promise<unknown> {
  const verdict = await judge(schema, walks, { texts, seed: 1 });
  switch (verdict.kind) {
    case "refused":
      return namesReason(verdict.why, schema) ? undefined : { schema, why: verdict.why };
    case "judged":
      if (verdict.texts === 0) return { schema, why: "the grammar has no text" };
      return verdict.unsound.length === 0 ? undefined : { schema, ...verdict.unsound[0] };
    default:
      return { schema, ...verdict };
  }
}

async function faults(schemas: readonly SchemaObject[], texts: number): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const schema of schemas) {
    const fault = await faultOf(schema, texts);
    if (fault !== undefined) found.push(fault);
  }
  return found;
}

/** A test judges about a thousand schemas, in seconds; beside other work in ten times as long. */
const msMax = 120_000;

it.each([
  { size: 2, every: 1, amount: 2 },
  { size: 3, every: 16, amount: 1 },
])(
  "texts of a grammar are valid for their schema, or strict refuses it by name: sets of $size keywords",
  { timeout: msMax },
  async ({ size, every, amount }) => {
    const sets = combinations(size).filter((_keywords, at) => at % every === 0);
    const schemas = sets.flatMap((keywords, at) => randomSchemas(keywords, amount, at));
    expect(await faults(schemas, 30)).toEqual([]);
  },
);
