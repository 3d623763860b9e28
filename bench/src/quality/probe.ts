// A model in Ingle in a process of its own: how long loading it takes and how much memory it ever holds. Run as a program
// with its order as the only argument it prints one line of JSON; probeModel() starts it so. Used by the command quant.
import { fileURLToPath } from "node:url";
import { load } from "@ingle/engine";
import { plainEnvironment, runProgram } from "../child-process.ts";

const limitMs = 1_800_000;

export interface ProbeOrder {
  model: string;
  threads: number;
  promptTokens: number;
  answerTokens: number;
}

export interface Probed {
  /** From the call of load() to a model that answers. The file is in the page cache. */
  loadMs: number;
  /** The most memory that the process ever held, in MB (10^6 bytes), Node's own and mapped weights included. */
  peakMb: number;
  parameters: number;
}

/** Throws BenchError, or the signal's reason. */
export async function probeModel(order: ProbeOrder, signal: AbortSignal): Promise<Probed> {
  const output = await runProgram(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(order)], {
    env: { ...plainEnvironment(), NODE_OPTIONS: process.execArgv.join(" ") },
    limitMs,
    signal,
  });
  return JSON.parse(output);
}

async function probe({ model: file, threads, promptTokens, answerTokens }: ProbeOrder): Promise<Probed> {
  const startedAt = performance.now();
  await using loaded = await load(file, { threads, parallel: 1 });
  const loadMs = performance.now() - startedAt;
  const prompt = "the ".repeat(promptTokens);
  await loaded.model.generate({ prompt, temperature: 0, maxTokens: answerTokens, ignoreEos: true });
  const peakMb = (process.resourceUsage().maxRSS * 1024) / 1e6;
  return { loadMs, peakMb, parameters: loaded.model.info.parameters };
}

const [, program, order] = process.argv;
if (program === fileURLToPath(import.meta.url) && order !== undefined)
  process.stdout.write(JSON.stringify(await probe(JSON.parse(order))));
