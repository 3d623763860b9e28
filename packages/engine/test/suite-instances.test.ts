// The JSON Schema Test Suite: a strict schema's grammar admits the valid instances and no others, or strict refuses the schema by name.
// A package of npm has the tests of draft 4 as they were in 2015; docs/testing.md has the command for all drafts.
import { createRequire } from "node:module";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { judgeInstances } from "./judge/instances.ts";
import { Judge } from "./judge/judge.ts";
import { suiteSchemas } from "./judge/suite.ts";

const suite = path.dirname(createRequire(import.meta.url).resolve("json-schema-test-suite/package.json"));

let judge: Judge;
beforeAll(() => {
  judge = new Judge();
});
afterAll(async () => {
  await judge[Symbol.asyncDispose]();
});

it("admits the valid instances of draft 4, and no others", async () => {
  const counts: Record<string, number> = {};
  const faults: unknown[] = [];
  for (const each of await suiteSchemas(suite, "draft4")) {
    const verdict = await judge.judge(each.schema, { texts: 20, seed: 1, drafts: ["draft4"] });
    counts[verdict.kind] = (counts[verdict.kind] ?? 0) + 1;
    if (verdict.kind === "refused") continue;
    if (verdict.kind !== "judged" || verdict.unsound.length > 0) faults.push({ each, verdict });
    for (const instance of await judgeInstances(each, judge.walks)) {
      counts[instance.kind] = (counts[instance.kind] ?? 0) + 1;
      if ("text" in instance) faults.push({ each, instance });
    }
  }
  expect(faults).toEqual([]);
  // If grammars become narrower, or more schemas are refused, it shows here.
  expect(counts).toEqual({
    judged: 77,
    refused: 11,
    admitted: 90,
    reordered: 4,
    narrower: 30,
    forbidden: 136,
  });
});
