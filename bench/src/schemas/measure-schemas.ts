// Measures structured output on the schemas of MaskBench (https://github.com/guidance-ai/jsonschemabench, folder maskbench): how many
// are supported, whether their valid instances match and their invalid ones do not, and what a token costs. A standalone program:
//
//   npx --yes pnpm@12 exec tsx bench/src/schemas/measure-schemas.ts FOLDER [--every 1] [--vocabulary llama-bpe]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { EngineError, load, replyGrammar, type Tokenizer } from "@ingle/engine";
import { readVocabulary, tinyModel } from "@ingle/fixtures";
import { z } from "zod";
import { BenchError } from "../bench-error.ts";
import { runProgram } from "../child-process.ts";
import { terminalTable } from "../results.ts";
import { percentile } from "../statistics.ts";
import { packageFolder, peersFolder } from "../workspace.ts";

const compileLimitMs = 300_000;
const program = path.join(peersFolder, "mask-times");
const grammarSources = [
  "automaton",
  "gbnf",
  "gbnf_rules",
  "grammar",
  "mask_walk",
  "pieces",
  "stack_set",
  "token_trie",
];

const BenchFile = z.object({
  schema: z.record(z.string(), z.unknown()).or(z.boolean()),
  tests: z.array(z.object({ valid: z.boolean(), data: z.unknown() })).default([]),
});

interface Tested {
  schema: unknown;
  instances: { isValid: boolean; tokens: Int32Array }[];
}

/** What became of the schemas, and times in microseconds. */
interface Outcome {
  passing: number;
  refused: number;
  /** Schemas with a valid instance that does not match, and with an invalid one that matches. */
  validRefused: number;
  invalidAccepted: number;
  toGrammar: number[];
  check: string[];
  mask: string[];
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    every: { type: "string", default: "1" },
    vocabulary: { type: "string", default: "llama-bpe" },
  },
});
const [checkout] = positionals;
if (checkout === undefined) throw new BenchError("Name a checkout of jsonschemabench.");

await compile();
const vocabulary = await readVocabulary(options.vocabulary);
const tested = await readSchemas(path.join(checkout, "maskbench", "data"), Number(options.every));
const rows = [
  [
    "",
    "passing",
    "refused",
    "valid refused",
    "invalid accepted",
    ...timeColumns("grammar"),
    ...timeColumns("mask"),
    ...timeColumns("check"),
  ],
];
for (const strict of [true, false]) rows.push(await row(strict));
process.stdout.write(`${tested.length} schemas, ${vocabulary.tokens.length} tokens, times in microseconds\n`);
process.stdout.write(`${terminalTable(rows)}\n`);

function timeColumns(of: string): string[] {
  return ["avg", "p50", "p99", "p99.9", "max"].map((what) => `${of} ${what}`);
}

async function row(strict: boolean): Promise<string[]> {
  const { passing, refused, validRefused, invalidAccepted, toGrammar, check, mask } = await follow(strict);
  // The program prints the count, the mean, and the percentiles 25, 50, 75, 90, 95, 99, 99.9 and 100.
  const shown = (times: string[]): string[] => [1, 3, 7, 8, 9].map((at) => times[at] ?? "");
  const mean = toGrammar.reduce((sum, time) => sum + time, 0) / toGrammar.length;
  const grammar = [mean, ...[50, 99, 99.9, 100].map((share) => percentile(toGrammar, share))];
  return [
    strict ? "strict" : "not strict",
    ...[passing, refused, validRefused, invalidAccepted].map(String),
    ...grammar.map((time) => time.toFixed(0)),
    ...shown(mask),
    ...shown(check),
  ];
}

async function compile(): Promise<void> {
  await mkdir(peersFolder, { recursive: true });
  const source = path.join(packageFolder("@ingle/engine-native"), "src");
  const files = grammarSources.map((name) => path.join(source, "grammar", `${name}.cpp`));
  const main = path.join(import.meta.dirname, "mask-times.cpp");
  const flags = ["-O3", "-march=native", "-std=c++23", `-I${source}`];
  await runProgram("c++", [...flags, main, ...files, "-o", program], {
    limitMs: compileLimitMs,
    signal: new AbortController().signal,
  });
}

/** Every `every`th file, with the tokens of its instances. */
async function readSchemas(folder: string, every: number): Promise<Tested[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).toSorted();
  await using model = await load(await tinyModel({ layers: 1, vocabulary: options.vocabulary }));
  const read: Tested[] = [];
  for (const [index, name] of names.entries()) {
    if (index % every !== 0) continue;
    const { schema, tests } = BenchFile.parse(JSON.parse(await readFile(path.join(folder, name), "utf8")));
    read.push({ schema, instances: await tokenizeInstances(tests, model.tokenizer) });
  }
  return read;
}

async function tokenizeInstances(
  tests: z.infer<typeof BenchFile>["tests"],
  tokenizer: Tokenizer,
): Promise<Tested["instances"]> {
  const instances: Tested["instances"] = [];
  for (const { valid, data } of tests) {
    const tokens = await tokenizer.encode(JSON.stringify(data), { addSpecial: false });
    instances.push({ isValid: valid, tokens });
  }
  return instances;
}

async function follow(strict: boolean): Promise<Outcome> {
  const outcome: Outcome = {
    passing: 0,
    refused: 0,
    validRefused: 0,
    invalidAccepted: 0,
    toGrammar: [],
    check: [],
    mask: [],
  };
  const asked: Tested[] = [];
  const child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
  const output = text(child.stdout);
  const send = async (...parts: Buffer[]): Promise<void> => {
    if (!child.stdin.write(Buffer.concat(parts))) await once(child.stdin, "drain");
  };
  await send(int32Bytes(vocabulary.tokens.length));
  for (const { bytes = Buffer.alloc(0) } of vocabulary.tokens) await send(int32Bytes(bytes.length), bytes);
  for (const each of tested) {
    const grammar = compileGrammar(each.schema, strict, outcome);
    if (grammar === undefined) continue;
    asked.push(each);
    await send(Buffer.from("G"), int32Bytes(grammar.length), grammar);
    for (const { tokens } of each.instances)
      await send(
        Buffer.from("I"),
        int32Bytes(tokens.length),
        Buffer.from(new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength)),
      );
  }
  child.stdin.end();
  const lines = (await output)
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" "));
  outcome.mask = lines.pop()?.slice(1) ?? [];
  outcome.check = lines.pop()?.slice(1) ?? [];
  count(lines, asked, outcome);
  return outcome;
}

/** Undefined if the schema is refused. */
function compileGrammar(schema: unknown, strict: boolean, outcome: Outcome): Buffer | undefined {
  const start = performance.now();
  try {
    if (typeof schema !== "object" || schema === null)
      throw new BenchError("A boolean is no schema of a reply.");
    const format = { type: "json_schema", schema: { ...schema }, strict } as const;
    const grammar = Buffer.from(replyGrammar(format));
    outcome.toGrammar.push((performance.now() - start) * 1000);
    return grammar;
  } catch (error) {
    if (!EngineError.is(error) && !(error instanceof BenchError)) throw error;
    outcome.refused += 1;
    return undefined;
  }
}

function count(lines: readonly string[][], asked: readonly Tested[], outcome: Outcome): void {
  let line = 0;
  for (const [index, { instances }] of asked.entries()) {
    const [kind, isRead, micros] = lines[line] ?? [];
    if (kind !== "G") throw new BenchError(`The program lost its place at schema ${index}.`);
    line += 1;
    if (isRead !== "1") {
      outcome.refused += 1;
      continue;
    }
    const at = outcome.toGrammar.length - asked.length + index;
    outcome.toGrammar[at] = (outcome.toGrammar[at] ?? 0) + Number(micros);
    const matches = instances.map((_instance, offset) => lines[line + offset]?.[1] === "1");
    line += instances.length;
    const isRefused = instances.some(({ isValid }, which) => isValid && matches[which] !== true);
    const isAccepted = instances.some(({ isValid }, which) => !isValid && matches[which] === true);
    outcome.validRefused += isRefused ? 1 : 0;
    outcome.invalidAccepted += isAccepted ? 1 : 0;
    outcome.passing += isRefused || isAccepted ? 0 : 1;
  }
}

function int32Bytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
