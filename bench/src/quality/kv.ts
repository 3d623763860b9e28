// `pnpm bench kv`: compares each KV cache type with 16 bits: memory, speed at a long context, divergence, and facts found in
// long texts.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { EngineError, load, type LoadedModel } from "@ingle/engine";
import { assertIdle } from "../machine.ts";
import { chooseKinds, type CacheKind } from "./cache-kinds.ts";
import { measureSpeed } from "./llama-tools.ts";
import { findNeedles, makeNeedles, type Needle } from "./needle.ts";
import { compareWithBase, writeBase, type TextTest } from "./perplexity.ts";
import type { QualityOptions } from "../options.ts";
import type { Column, Row } from "./table.ts";

/** The needle's text and the question must fit the context that the model was trained for. */
const needleTextShare = 0.8;
const needleTokensMax = 3_000;
const replyTokens = 32;
const mebibyte = 1024 ** 2;
const contexts = [4_096, 16_384, 32_768] as const;

const perplexityColumn: Column = {
  key: "perplexity",
  title: "perplexity",
  unit: "",
  better: "lower",
  digits: 3,
};

/** The perplexity of a model of random weights is left out: it is meaningless. */
export const kvColumns = ({ depth, isRandom }: { depth: number; isRandom: boolean }): Column[] => [
  { key: "bits", title: "bits a value", unit: "", better: "lower", digits: 2, isDrawn: true },
  ...contexts.map((tokens): Column => {
    const title = `cache of ${tokens / 1024}k tokens`;
    return { key: `memory${tokens}`, title, unit: "MiB", better: "lower", digits: 1 };
  }),
  { key: "kld", title: "divergence", unit: "", better: "lower", digits: 5, isDrawn: true },
  { key: "kldError", title: "±", unit: "", better: "lower", digits: 5 },
  { key: "kld99", title: "divergence, 99th percentile", unit: "", better: "lower", digits: 4 },
  { key: "sameTop", title: "same token likeliest", unit: "%", better: "higher", digits: 1, isDrawn: true },
  ...(isRandom ? [] : [perplexityColumn]),
  { key: "found", title: "needles found", unit: "", better: "higher", digits: 0 },
  { key: "asked", title: "of", unit: "", better: "higher", digits: 0 },
  {
    key: "tokensPerSecond",
    title: `speed behind ${depth} tokens`,
    unit: "tokens/s",
    better: "higher",
    digits: 1,
    isDrawn: true,
  },
];

/** One row per requested type, and one for the original. Needles are hidden in the book `haystack`. */
export async function measureCaches(options: QualityOptions, haystack: string): Promise<Row[]> {
  const [original, ...kinds] = chooseKinds(options.names);
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-kv-"));
  try {
    const base = path.join(folder, "base");
    const first = await measureOriginal(original, { options, haystack, base });
    const rows: Row[] = [first.row];
    for (const kind of kinds) rows.push(await measureKind(kind, { options, haystack, base, ...first }));
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Surroundings {
  options: QualityOptions;
  haystack: string;
  base: string;
}

interface Original {
  row: Row;
  kvBytesPerToken: number;
  /** The needles that the original finds; the others do not count. */
  needles: readonly Needle[];
}

async function measureOriginal(
  kind: CacheKind,
  { options, haystack, base }: Surroundings,
): Promise<Original> {
  await assertIdle(options);
  const { all, found, kvBytesPerToken } = await inProcess(kind, options, async (loaded) => {
    const needles = await needlesFor(loaded, haystack, options);
    return { all: needles, found: await findNeedles(loaded, needles, options.signal) };
  });
  const needles = all.filter((_, index) => found[index] === true);
  options.say(`${kind.name}: ${needles.length} of ${all.length} needles found.`);
  const perplexity = await writeBase(textTest(kind, options), base);
  const values = {
    ...memoryValues(kvBytesPerToken, kvBytesPerToken),
    ...needleValues(needles.map(() => true)),
    ...(await speedValues(kind, options)),
    kld: 0,
    perplexity,
    sameTop: 100,
  };
  return { row: { ...about(kind), values }, kvBytesPerToken, needles };
}

async function measureKind(kind: CacheKind, original: Surroundings & Original): Promise<Row> {
  const { options, base, needles } = original;
  await assertIdle(options);
  try {
    const { found, kvBytesPerToken } = await inProcess(kind, options, async (loaded) => ({
      // Ingle itself knows which types it was built with.
      found: kind.build === "patched" ? await findNeedles(loaded, needles, options.signal) : [],
    }));
    const { sameTop, ...divergence } = await compareWithBase(textTest(kind, options), base);
    options.say(`${kind.name}: divergence ${divergence.kld} ± ${divergence.kldError}.`);
    const values = {
      ...memoryValues(kvBytesPerToken, original.kvBytesPerToken),
      ...needleValues(found),
      ...(await speedValues(kind, options)),
      ...divergence,
      sameTop: 100 * sameTop,
    };
    return { ...about(kind), values };
  } catch (error) {
    // Blocks of this type do not divide the model's heads, or a device has no kernel for it.
    if (!EngineError.is(error) || error.code !== "invalid_request") throw error;
    options.say(`${kind.name}: ${error.message}`);
    return { ...about(kind), values: {}, error: error.message };
  }
}

/** Runs a function with the model loaded in Ingle, and frees the model before anything else is measured. */
async function inProcess<T>(
  { types }: CacheKind,
  { model, threads, signal }: QualityOptions,
  work: (loaded: LoadedModel) => Promise<T>,
): Promise<T & { kvBytesPerToken: number }> {
  await using loaded = await load(model, { ...types, threads, parallel: 1, signal });
  return { ...(await work(loaded)), kvBytesPerToken: loaded.model.info.kvBytesPerToken };
}

/** Empty if there was no needle to find. */
function needleValues(found: readonly boolean[]): Record<string, number> {
  return found.length === 0 ? {} : { found: found.filter(Boolean).length, asked: found.length };
}

function about({ name, note, isOurs }: CacheKind): Pick<Row, "name" | "note" | "isOurs"> {
  return { name, note, isOurs };
}

function memoryValues(bytes: number, originalBytes: number): Record<string, number> {
  const memory = contexts.map((tokens) => [`memory${tokens}`, (tokens * bytes) / mebibyte] as const);
  return { bits: (16 * bytes) / originalBytes, ...Object.fromEntries(memory) };
}

async function speedValues(
  { types, build }: CacheKind,
  options: QualityOptions,
): Promise<Record<string, number>> {
  const { model, threads, depth, signal } = options;
  if (depth === 0) return {};
  return { ...(await measureSpeed({ model, threads, replyTokens, depth, signal, build, ...types })) };
}

function textTest({ types, build }: CacheKind, options: QualityOptions): TextTest {
  const { model, text, pieceTokens, pieces, threads, signal } = options;
  return { model, text, pieceTokens, pieces, threads, signal, build, ...types };
}

/** Needles in texts as long as the model allows. */
async function needlesFor(
  { model, tokenizer }: LoadedModel,
  file: string,
  { seed, needleTexts }: QualityOptions,
): Promise<Needle[]> {
  const haystack = (await readFile(file, "utf8")).split(/\s+/).filter((word) => word !== "");
  const sample = haystack.slice(0, 2_000);
  const tokens = await tokenizer.encode(sample.join(" "), { addSpecial: false });
  const tokensMax = Math.min(needleTextShare * model.info.contextLength, needleTokensMax);
  const words = Math.floor((tokensMax * sample.length) / tokens.length);
  return makeNeedles({ haystack, words, seed, texts: needleTexts });
}
