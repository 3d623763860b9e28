// The commands `kv` and `quant`: measure, and write a report to stdout and to files.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { BenchError } from "../bench-error.ts";
import { describeMachine, describeModel } from "../machine.ts";
import type { BenchOptions, QualityOptions } from "../options.ts";
import type { PeerOptions } from "../peers.ts";
import { cacheKinds, chooseKinds } from "./cache-kinds.ts";
import { ensureCorpus, writeSampledText, type Corpus } from "./corpus.ts";
import { kvColumns, measureCaches } from "./kv.ts";
import { ensureLlamaTools } from "./llama-tools.ts";
import { measureLevels, quantColumns } from "./quant.ts";
import { randomModelNote, writeRandomModel } from "./random-model.ts";
import { terminalQuality, writeQuality, type QualityRun } from "./table.ts";

type Command = "kv" | "quant";

const titles: Record<Command, Pick<QualityRun, "title" | "meaning">> = {
  kv: {
    title: "Kinds of KV cache",
    meaning:
      "What fewer bits for keys and values save, and how far the model is then from itself at 16 bits.",
  },
  quant: {
    title: "Levels of quantization",
    meaning:
      "What fewer bits for weights save, and how far the model is then from the one that was not quantized.",
  },
};

/** A file, or a model of random weights with this head size. */
export type QualityModel = { file: string } | { headSize: number };

/** Measures, and writes the report. Returns the files. Throws BenchError, what Ingle throws, or the signal's reason. */
export async function runQuality(
  command: Command,
  { model: wish, ...options }: Omit<BenchOptions, "model"> & { model: QualityModel },
  { say, signal }: PeerOptions,
): Promise<{ report: string; files: string[] }> {
  checkKinds(command, options.kinds);
  const startedAt = new Date();
  const kinds = command === "kv" ? chooseKinds(options.kinds) : [];
  for (const build of new Set(["patched" as const, ...kinds.map((kind) => kind.build)]))
    await ensureLlamaTools(build, { say, signal });
  const corpus = await ensureCorpus({ say, signal });
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-text-"));
  try {
    const isRandom = "headSize" in wish;
    const model = isRandom ? await writeRandomModel(folder, wish.headSize, { signal }) : wish.file;
    const [machine, modelFile] = [await describeMachine(signal), await describeModel(model, signal)];
    const { threads, seed, force, pieces, pieceTokens, depth } = options;
    // A model of random weights cannot find needles.
    const needleTexts = isRandom ? 0 : options.needleTexts;
    const runOptions = { model, threads, seed, force, pieces, pieceTokens, depth, needleTexts, say, signal };
    const [text, source] = await textFor(options.text, { corpus, folder, runOptions });
    const quality: QualityOptions = { ...runOptions, text, names: options.kinds };
    const rows =
      command === "kv" ? await measureCaches(quality, corpus.haystack) : await measureLevels(quality);
    const run: QualityRun = {
      command,
      ...titles[command],
      startedAt,
      machine,
      model: modelFile,
      threads,
      seed,
      wasForced: force,
      conditions: [
        `divergence and perplexity on ${pieces} pieces of ${pieceTokens} tokens of ${source}`,
        ...(isRandom ? [randomModelNote] : []),
      ],
      columns: command === "kv" ? kvColumns({ depth, isRandom }) : quantColumns,
      rows,
    };
    return { report: terminalQuality(run), files: await writeQuality(run, options.out) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function checkKinds(command: Command, names: readonly string[]): void {
  if (command === "quant") return; // quantizing validates the levels
  const known = cacheKinds.slice(1).map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new BenchError(`There is no kind ${unknown.join(", ")} to compare; there are ${known.join(", ")}.`);
}

/** The path of the text, and its description. */
async function textFor(
  wish: BenchOptions["text"],
  {
    corpus,
    folder,
    runOptions,
  }: { corpus: Corpus; folder: string; runOptions: Omit<QualityOptions, "text" | "names"> },
): Promise<[file: string, source: string]> {
  if (wish === undefined) return [corpus.text, `${path.basename(corpus.text)} (Project Gutenberg)`];
  if (wish !== "sampled") return [wish.file, path.basename(wish.file)];
  const file = path.join(folder, "sampled.txt");
  await writeSampledText(file, runOptions);
  return [file, "a text that the model itself wrote, sampled at temperature 1"];
}
