// The command `speed`: compares how fast the builds of Ingle, llama.cpp and ik_llama.cpp compute prompts, replies and several replies
// together, for each quantization level, and how close that is to the machine's limit.
import { EngineError } from "@ingle/engine";
import { describeMachine, describeModel, type ModelFile } from "../machine.ts";
import type { BenchOptions } from "../options.ts";
import { cpu, type PeerOptions } from "../peers.ts";
import { terminalQuality, writeQuality, type QualityRun, type Row } from "../quality/table.ts";
import { limitNote, measureFile, speedColumns } from "./measure.ts";
import { quantizedModel, randomModel } from "./models.ts";
import { ensureSpeedPrograms } from "./programs.ts";

const levelsDefault = ["Q4_K_M", "Q6_K", "Q8_0", "IQ2_XXS"];

/**
 * Measures, and writes the report. `isComplete` is false if a level or a program failed. Throws BenchError, what making a model
 * throws, or the signal's reason.
 */
export async function runSpeed(
  options: BenchOptions,
  { say, signal }: PeerOptions,
): Promise<{ report: string; files: string[]; isComplete: boolean }> {
  const startedAt = new Date();
  const { threads, seed, force, rounds } = options;
  const programs = await ensureSpeedPrograms(options.ik, { say, signal });
  say("Making the model …");
  const file = options.model ?? (await randomModel(options.shape, signal));
  const model = await describeModel(file, signal);
  const levels = options.kinds.length === 0 ? levelsDefault : options.kinds.map((kind) => kind.toUpperCase());
  const made = await makeLevels(levels, { file, model, threads }, { say, signal });
  const rows: Row[] = [];
  for (const { level, path, error } of made) {
    say(`${level} …`);
    if (path === undefined) rows.push({ name: level, note: "", isOurs: true, values: {}, error });
    else
      rows.push(...(await measureFile(path, { level, programs, run: { threads, rounds, force, signal } })));
  }
  const run: QualityRun = {
    command: "speed",
    title: "Speed of quantized weights",
    meaning: "What the kernels of each build compute, without a server, on the same files.",
    startedAt,
    machine: await describeMachine(signal),
    model,
    threads,
    seed,
    wasForced: force,
    conditions: [
      `medians of ${rounds} rounds, in which the programs take turns`,
      ...programs.map(({ name, version }) => `${name}: ${version}`),
      `built for ${cpu ?? "this processor"}`,
      `${limitNote}: reading the weights once, or multiplying their bytes, whichever takes longer`,
    ],
    columns: speedColumns,
    rows,
  };
  const isComplete = rows.every(({ error }) => error === undefined);
  return { report: terminalQuality(run), files: await writeQuality(run, options.out), isComplete };
}

interface MadeLevel {
  level: string;
  path?: string;
  error: string;
}

/** All before anything is measured: the machine has to be idle then. */
async function makeLevels(
  levels: readonly string[],
  { file, model, threads }: { file: string; model: ModelFile; threads: number },
  { say, signal }: PeerOptions,
): Promise<MadeLevel[]> {
  const made: MadeLevel[] = [];
  for (const level of levels) {
    say(`Making ${level} …`);
    try {
      const path = await quantizedModel(file, level, { checksum: model.sha256, threads, signal });
      made.push({ level, path, error: "" });
    } catch (error) {
      // The level is unknown, or the model has rows that cannot be divided into its blocks.
      if (!EngineError.is(error)) throw error;
      made.push({ level, error: error.message });
    }
  }
  return made;
}
