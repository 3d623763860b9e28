// Judges structured output on many schemas: those of MaskBench, of the JSON Schema Test Suite, and random ones (docs/testing.md).
//
//   npx --yes pnpm@12 exec tsx packages/engine/test/judge/judge-all.ts [--bench FOLDER] [--suite FOLDER] [--random 3]
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { judgeInstances } from "./instances.ts";
import { drawingMsMax, Judge, type Verdict } from "./judge.ts";
import { combinations, draftKeywords, randomSchemas, type SchemaObject } from "./random-schemas.ts";
import { suiteSchemas } from "./suite.ts";
import type { Draft } from "./validators.ts";

const { values: options } = parseArgs({
  options: {
    bench: { type: "string" },
    suite: { type: "string" },
    random: { type: "string" },
    draft: { type: "string", multiple: true },
    texts: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    every: { type: "string", default: "1" },
  },
});

const BenchFile = z.object({
  schema: z.record(z.string(), z.unknown()).or(z.boolean()),
  tests: z.array(z.object({ valid: z.boolean(), data: z.unknown() })).default([]),
});
const Drafts = z.array(z.enum(["draft4", "draft7", "draft2020-12"]));

/** Schemas of a set of so many random keywords that are drawn until one is judged. */
const triesMax = 4;

/** Counts by what became of schemas, texts and instances. */
const tally = new Map<string, number>();
const add = (what: string, count = 1): void => void tally.set(what, (tally.get(what) ?? 0) + count);
const print = (...parts: readonly unknown[]): void => void process.stdout.write(`${parts.join("\t")}\n`);

const drafts = Drafts.parse(options.draft ?? ["draft4", "draft7", "draft2020-12"]);
const every = Number(options.every);
const start = performance.now();
await using judge = new Judge();
if (options.bench !== undefined) await judgeBench(options.bench);
if (options.suite !== undefined) await judgeSuite(options.suite);
if (options.random !== undefined) await judgeRandom(Number(options.random));
add("seconds", Math.round((performance.now() - start) / 1000));
print(JSON.stringify(Object.fromEntries(tally)));

async function judgeBench(checkout: string): Promise<void> {
  const folder = path.join(checkout, "maskbench", "data");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).toSorted();
  for (const [index, name] of names.entries()) {
    if (index % every !== 0) continue;
    const { schema, tests } = BenchFile.parse(JSON.parse(await readFile(path.join(folder, name), "utf8")));
    if (typeof schema === "boolean") continue;
    const kind = await judgeOne(name, schema);
    if (kind === "judged" || kind === "unjudged") await judgeTests(name, tests);
  }
}

/** A schema passes if its grammar admits all valid instances and no others. */
async function judgeTests(name: string, tests: z.infer<typeof BenchFile>["tests"]): Promise<void> {
  let isPassing = true;
  for (const { valid, data } of tests) {
    const isAdmitted = await judge.walks.admits(JSON.stringify(data));
    if (isAdmitted && !valid) print("invalid accepted", name, JSON.stringify(data).slice(0, 300));
    isPassing &&= isAdmitted === valid;
  }
  if (isPassing) add("passing");
}

async function judgeSuite(checkout: string): Promise<void> {
  for (const draft of drafts) {
    for (const each of await suiteSchemas(checkout, draft)) {
      if ((await judgeOne(each.title, each.schema, [draft])) !== "judged") continue;
      for (const verdict of await judgeInstances(each, judge.walks)) {
        add(`instances ${verdict.kind}`);
        if (verdict.kind === "narrower") add(`narrower: ${verdict.why}`);
        if ("text" in verdict)
          print(verdict.kind, each.title, verdict.title, verdict.text, JSON.stringify(each.schema));
      }
    }
  }
}

/** For each set of up to so many keywords of a draft, schemas until one is judged. */
async function judgeRandom(sizeMax: number): Promise<void> {
  for (const draft of drafts) {
    for (const size of [1, 2, 3].slice(0, sizeMax)) {
      for (const [at, of] of combinations(size, draftKeywords(draft)).entries()) {
        if (at % every !== 0) continue;
        const isJudged = await judgeSet(of, draft, Number(options.seed) + at);
        add(`sets of ${size} keywords`);
        if (!isJudged) add(`sets of ${size} keywords of which no schema was judged`);
      }
    }
  }
}

async function judgeSet(of: readonly string[], draft: Draft, seed: number): Promise<boolean> {
  for (const schema of randomSchemas(of, triesMax, seed, draft)) {
    if ((await judgeOne(JSON.stringify(schema), schema, [draft])) === "judged") return true;
  }
  return false;
}

/** What became of it. */
async function judgeOne(name: string, schema: SchemaObject, of?: readonly Draft[]): Promise<Verdict["kind"]> {
  const verdict = await judge.judge(schema, {
    texts: Number(options.texts),
    seed: Number(options.seed),
    ...(of === undefined ? {} : { drafts: of }),
  });
  add("schemas");
  if (verdict.kind !== "judged") {
    add(verdict.kind);
    print(verdict.kind, name, verdict.why);
    return verdict.kind;
  }
  add("judged");
  add("texts", verdict.texts);
  add("different texts", verdict.distinct);
  add("lost", verdict.lost.length);
  add("unsound", verdict.unsound.length);
  if (verdict.lost.length > 0) print("lost", name, verdict.lost.length);
  if (verdict.texts === 0 && Number(options.texts) > 0) {
    add("empty");
    print("empty", name);
  }
  if (verdict.isShort) {
    add("short");
    print("short", name, `only ${verdict.texts} texts in ${drawingMsMax / 1000} s`);
  }
  const [first] = verdict.unsound;
  if (first !== undefined)
    print("unsound", name, verdict.unsound.length, first.problem, JSON.stringify(first.text.slice(0, 300)));
  return verdict.kind;
}
