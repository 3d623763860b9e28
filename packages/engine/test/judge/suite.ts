// Reads the JSON Schema Test Suite (https://github.com/json-schema-org/JSON-Schema-Test-Suite): schemas with instances that are valid
// for them, and others.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { SchemaObject } from "./random-schemas.ts";
import type { Draft } from "./validators.ts";

export interface SuiteSchema {
  draft: Draft;
  /** Its file and description. */
  title: string;
  schema: SchemaObject;
  instances: { title: string; value: unknown; isValid: boolean }[];
}

const SuiteFile = z.array(
  z.object({
    description: z.string(),
    schema: z.record(z.string(), z.unknown()).or(z.boolean()),
    tests: z.array(z.object({ description: z.string(), data: z.unknown(), valid: z.boolean() })),
  }),
);

/**
 * Files of optional features that are left out: a text of JSON that JavaScript does not keep (1.0 is not an integer in draft 4), and
 * keywords that assert nothing since 2019-09 (`contentEncoding`, `contentMediaType`).
 */
const leftOut = new Set(
  ["zeroTerminatedFloats.json", "content.json"].map((name) => path.join("optional", name)),
);

/** All schemas of a draft, with those of optional features. A schema that is a boolean becomes an object. */
export async function suiteSchemas(checkout: string, draft: Draft): Promise<SuiteSchema[]> {
  const folder = path.join(checkout, "tests", draft);
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".json"));
  const all: SuiteSchema[] = [];
  for (const name of names.toSorted()) {
    if (leftOut.has(name)) continue;
    const groups = SuiteFile.parse(JSON.parse(await readFile(path.join(folder, name), "utf8")));
    for (const { description, schema, tests } of groups) {
      all.push({
        draft,
        title: `${draft} ${name}: ${description}`,
        schema: typeof schema === "boolean" ? { allOf: [schema] } : schema,
        instances: tests.map((test) => ({
          title: test.description,
          value: test.data,
          isValid: test.valid,
        })),
      });
    }
  }
  return all;
}
