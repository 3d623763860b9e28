// Measures a model's load time and peak memory in Ingle, in a process of its own: probeModel() runs this file with a JSON
// argument, and it prints one line of JSON.
import { fileURLToPath } from "node:url";
import { load } from "@ingle/engine";
import { plainEnvironment, runProgram } from "../child-process.ts";

const limitMs = 1_800_000;

interface ProbeJob {
  model: string;
  threads: number;
  promptTokens: number;
  replyTokens: number;
}

interface Probed {
  /** Duration of load(). The file is in the page cache. */
  loadMs: number;
  /** Peak memory of the process in MB (10^6 bytes), including Node and mapped weights. */
  peakMb: number;
  parameters: number;
}

/** Throws BenchError, or the signal's reason. */
export async function probeModel(job: ProbeJob, signal: AbortSignal): Promise<Probed> {
  const output = await runProgram(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(job)], {
    env: { ...plainEnvironment(), NODE_OPTIONS: process.execArgv.join(" ") },
    limitMs,
    signal,
  });
  return JSON.parse(output);
}

async function probe({ model: file, threads, promptTokens, replyTokens }: ProbeJob): Promise<Probed> {
  const startedAt = performance.now();
  await using loaded = await load(file, { threads, parallel: 1 });
  const loadMs = performance.now() - startedAt;
  const prompt = "the ".repeat(promptTokens);
  await loaded.model.generate({ prompt, temperature: 0, maxTokens: replyTokens, ignoreEos: true });
  const peakMb = (process.resourceUsage().maxRSS * 1024) / 1e6;
  return { loadMs, peakMb, parameters: loaded.model.info.parameters };
}

const [, program, job] = process.argv;
if (program === fileURLToPath(import.meta.url) && job !== undefined)
  process.stdout.write(JSON.stringify(await probe(JSON.parse(job))));
