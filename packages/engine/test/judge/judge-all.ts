// Judges structured output on many schemas: those of MaskBench, of the JSON Schema Test Suite, and random ones (docs/testing.md).
//
//   npx --yes pnpm@12 exec tsx packages/engine/test/judge/judge-all.ts [--bench FOLDER] [--suite FOLDER] [--random 3]
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { judge, type SchemaObject, type Verdict } from "./judge.ts";
import { combinations, randomSchemas } from "./random-schemas.ts";
import { Walks } from "./walks.ts";

const { values: options } = parseArgs({
  options: {
    bench: { type: "string" },
    texts: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    every: { type: "string", default: "1" },
    random: { type: "string" },
  },
});

const BenchFile = z.object({ schema: z.record(z.string(), z.unknown()).or(z.boolean()) });

interface Tally {
  schemas: number;
  refused: number;
  broken: number;
  unjudged: number;
  texts: number;
  /** Texts of the rules that the engine gives up on, because the grammar is too ambiguous. */
  lost: number;
  unsound: number;
}
const tally: Tally = { schemas: 0, refused: 0, broken: 0, unjudged: 0, texts: 0, lost: 0, unsound: 0 };
await using walks = new Walks();
if (options.bench !== undefined) {
  const folder = path.join(options.bench, "maskbench", "data");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).toSorted();
  for (const [index, name] of names.entries()) {
    if (index % Number(options.every) !== 0) continue;
    const { schema } = BenchFile.parse(JSON.parse(await readFile(path.join(folder, name), "utf8")));
    if (typeof schema !== "boolean") await count(name, schema);
  }
}
if (options.random !== undefined) {
  for (const size of [1, 2, 3].slice(0, Number(options.random))) {
    for (const [at, of] of combinations(size).entries()) {
      if (at % Number(options.every) !== 0) continue;
      for (const schema of randomSchemas(of, size === 3 ? 1 : 4, Number(options.seed) + at))
        await count(JSON.stringify(schema), schema);
    }
  }
}
process.stdout.write(`${JSON.stringify(tally)}\n`);

async function count(name: string, schema: SchemaObject): Promise<void> {
  const verdict: Verdict = await judge(schema, walks, {
    texts: Number(options.texts),
    seed: Number(options.seed),
  });
  tally.schemas += 1;
  if (verdict.kind !== "judged") {
    tally[verdict.kind] += 1;
    const why = "why" in verdict ? verdict.why : "";
    process.stdout.write(`${verdict.kind}\t${name}\t${why}\n`);
    return;
  }
  tally.texts += verdict.texts;
  tally.lost += verdict.lost.length;
  if (verdict.lost.length > 0) process.stdout.write(`lost\t${name}\t${verdict.lost.length}\n`);
  if (verdict.texts === 0) process.stdout.write(`empty\t${name}\n`);
  if (verdict.unsound.length === 0) return;
  tally.unsound += verdict.unsound.length;
  const [first] = verdict.unsound;
  process.stdout.write(
    `unsound\t${name}\t${verdict.unsound.length}\t${first?.problem}\t${JSON.stringify(first?.text.slice(0, 300))}\n`,
  );
}
