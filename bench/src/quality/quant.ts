// `pnpm bench quant`: compares each quantization level with the original: size, load time, speed, memory, and divergence.
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { EngineError, quantizeModel } from "@ingle/engine";
import { assertIdle } from "../machine.ts";
import { compareWithBase, writeBase } from "./perplexity.ts";
import { probeModel } from "./load-probe.ts";
import type { QualityOptions } from "../options.ts";
import { measureSpeed } from "./llama-tools.ts";
import type { Column, Row } from "./table.ts";

/** From hardly any loss to a large one. */
const levelsDefault = ["Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "IQ4_XS", "Q3_K_M", "Q2_K"];
const promptTokens = 256;
const replyTokens = 64;

export const quantColumns: readonly Column[] = [
  { key: "sizeMb", title: "size", unit: "MB", better: "lower", digits: 1, isDrawn: true },
  { key: "bits", title: "bits a weight", unit: "", better: "lower", digits: 2 },
  { key: "kld", title: "divergence", unit: "", better: "lower", digits: 5, isDrawn: true },
  { key: "kldError", title: "±", unit: "", better: "lower", digits: 5 },
  { key: "sameTop", title: "same token likeliest", unit: "%", better: "higher", digits: 1, isDrawn: true },
  { key: "perplexity", title: "perplexity", unit: "", better: "lower", digits: 3 },
  { key: "promptTokensPerSecond", title: "prompt", unit: "tokens/s", better: "higher", digits: 1 },
  {
    key: "tokensPerSecond",
    title: "generation",
    unit: "tokens/s",
    better: "higher",
    digits: 1,
    isDrawn: true,
  },
  { key: "loadMs", title: "load", unit: "ms", better: "lower", digits: 0 },
  { key: "peakMb", title: "peak memory", unit: "MB", better: "lower", digits: 0 },
];

/** A row for the original and one for each level. */
export async function measureLevels(options: QualityOptions): Promise<Row[]> {
  const { model, names } = options;
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-quant-"));
  try {
    const base = path.join(folder, "base");
    await assertIdle(options);
    const perplexity = await writeBase(options, base);
    const sizeBytes = (await stat(model)).size;
    const original: Row = {
      name: "original",
      note: path.basename(model),
      isOurs: false,
      values: { ...(await costs({ path: model, sizeBytes }, options)), perplexity, kld: 0, sameTop: 100 },
    };
    const rows = [original];
    for (const level of names.length === 0 ? levelsDefault : names)
      rows.push(await measureLevel(level, { folder, base, options }));
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureLevel(
  level: string,
  { folder, base, options }: { folder: string; base: string; options: QualityOptions },
): Promise<Row> {
  const { model, threads, signal, say } = options;
  const row = { name: level, note: "", isOurs: true };
  try {
    const output = path.join(folder, "quantized.gguf");
    const made = await quantizeModel(model, { to: level, output, overwrite: true, threads, signal });
    await assertIdle(options);
    const { sameTop, ...divergence } = await compareWithBase({ ...options, model: made.path }, base);
    say(`${level}: divergence ${divergence.kld} ± ${divergence.kldError}.`);
    const values = { ...(await costs(made, options)), bits: made.bitsPerWeight, ...divergence };
    return { ...row, name: made.quantization, values: { ...values, sameTop: 100 * sameTop } };
  } catch (error) {
    // The model has rows that cannot be divided into this level's blocks, or the level needs an importance matrix.
    if (!EngineError.is(error)) throw error;
    say(`${level}: ${error.message}`);
    return { ...row, values: {}, error: error.message };
  }
}

/** Load time and memory in a process of its own, and speeds by llama-bench. */
async function costs(
  { path: model, sizeBytes }: { path: string; sizeBytes: number },
  { threads, signal }: QualityOptions,
): Promise<Record<string, number>> {
  const { loadMs, peakMb, parameters } = await probeModel(
    { model, threads, promptTokens, replyTokens },
    signal,
  );
  const speeds = await measureSpeed({ model, threads, promptTokens, replyTokens, signal });
  return { sizeMb: sizeBytes / 1e6, bits: (8 * sizeBytes) / parameters, loadMs, peakMb, ...speeds };
}
