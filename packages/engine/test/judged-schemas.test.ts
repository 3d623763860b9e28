// What a strict schema's grammar admits is valid for the schema: an independent validator judges random texts of random schemas.
// docs/testing.md has the command for a million texts.
import { afterAll, beforeAll, expect, it } from "vitest";
import { judge, namesReason, type SchemaObject } from "./judge/judge.ts";
import { combinations, keywords, randomSchemas } from "./judge/random-schemas.ts";
import { Walks } from "./judge/walks.ts";

/** What strict does not yet enforce beside every other keyword. */
const later = new Set([
  "$ref",
  "allOf",
  "anyOf",
  "const",
  "enum",
  "exclusiveMaximum",
  "format",
  "items",
  "minProperties",
  "oneOf",
  "prefixItems",
  "required",
]);
const judged = keywords.filter((keyword) => !later.has(keyword));

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

it("texts of a grammar are valid for their schema, or strict refuses the schema by name", async () => {
  const schemas = combinations(2, judged).flatMap((of, at) => randomSchemas(of, 2, at));
  expect(await faults(schemas, 40)).toEqual([]);
});
