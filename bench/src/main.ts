// The benchmark's command line: `pnpm bench <command>`, documented in docs/benchmarks.md. Writes the report to stdout and to
// files; progress goes to stderr.
import { setMaxListeners } from "node:events";
import path from "node:path";
import { ensureStarterModel } from "@ingle/engine";
import { BenchError } from "./bench-error.ts";
import { failures } from "./comparison.ts";
import { decodeScenario, runDecode } from "./decode.ts";
import { httpCommand } from "./http-subject.ts";
import { describeMachine, describeModel } from "./machine.ts";
import { parseOptions, usageText, type BenchOptions } from "./options.ts";
import { ensureLlamaPrograms, ensureNodeLlamaCpp, nodeLlamaCppVersion, readPin } from "./peers.ts";
import { compareImages } from "./compare-images.ts";
import { terminalReport, writeReport, type Run } from "./report.ts";
import { runQuality, type QualityModel } from "./quality/command.ts";
import { runScenarios, type RunOptions } from "./runner.ts";
import { allSubjects, type Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/all.ts";
import { runSimulate } from "./simulation/command.ts";
import { measureServiceTimes } from "./simulation/measure-service-times.ts";
import { runSpeed } from "./speed/command.ts";
import { runSteps } from "./steps/command.ts";
import { ensureSpeedPrograms } from "./speed/programs.ts";
import { contextLength, type SubjectName, type SubjectOptions } from "./subject.ts";

const exitInterrupted = 130;

async function main(args: readonly string[], signal: AbortSignal): Promise<number> {
  // Package managers start this program in the workspace's folder and pass the user's folder in INIT_CWD.
  const options = parseOptions(args, process.env["INIT_CWD"] ?? process.cwd());
  switch (options.command) {
    case "help":
      process.stdout.write(usageText);
      return 0;
    case "peers":
      await preparePeers(allSubjects, signal);
      await ensureLlamaPrograms({ say, signal }, ["llama-bench", "llama-mtmd-cli"]);
      await ensureSpeedPrograms(options.ik, { say, signal });
      return 0;
    case "speed": {
      const { report, files, isComplete } = await runSpeed(options, { say, signal });
      show(report, files);
      return isComplete ? 0 : 1;
    }
    case "images":
      return await runImageComparison(options, signal);
    case "decode":
      return await measure(options, [decodeScenario], runDecode, signal);
    case "kv":
    case "quant": {
      const model = await qualityModel(options.command, options, signal);
      const { report, files } = await runQuality(options.command, { ...options, model }, { say, signal });
      show(report, files);
      return 0;
    }
    case "steps": {
      const model = options.model ?? (await starterModelPath(signal));
      const { report, files } = await runSteps({ ...options, model, signal, say });
      show(report, files);
      return 0;
    }
    case "service-times": {
      const model = options.model ?? (await starterModelPath(signal));
      const file = await measureServiceTimes({ ...options, model, signal, say });
      process.stdout.write(`${path.relative(process.cwd(), file)}\n`);
      return 0;
    }
    case "simulate": {
      const { report, files } = await runSimulate({ ...options, say });
      show(report, files);
      return 0;
    }
    case "http": {
      const chosen = scenarios.filter(({ name }) => options.scenarios.includes(name));
      return await measure(options, chosen, async (run) => await runScenarios(chosen, run), signal);
    }
  }
}

/** Returns 1 if a reply differed from llama-mtmd-cli's. */
async function runImageComparison({ model, mmproj }: BenchOptions, signal: AbortSignal): Promise<number> {
  if ((model === undefined) !== (mmproj === undefined))
    throw new BenchError("images takes --model and --mmproj together, or neither.");
  await ensureLlamaPrograms({ say, signal }, ["llama-mtmd-cli"]);
  const files = model === undefined || mmproj === undefined ? undefined : { model, projector: mmproj };
  return (await compareImages({ files, say, signal })) === 0 ? 0 : 1;
}

type Reported = Omit<Scenario, "cases">;

/** Prepares, runs and reports. Returns 1 if a round failed. */
async function measure(
  options: BenchOptions,
  reported: readonly Reported[],
  run: (options: RunOptions) => Promise<Run["results"]>,
  signal: AbortSignal,
): Promise<number> {
  const startedAt = new Date();
  const names = subjectNames(options, reported);
  await preparePeers(names, signal);
  const model = options.model ?? (await starterModelPath(signal));
  const [machine, modelFile] = [await describeMachine(signal), await describeModel(model, signal)];
  say(`Seed ${options.seed}; ${options.threads} threads; ${modelFile.name}.`);
  const results = await run({ ...options, model, signal, say });
  const finished: Run = {
    command: options.command,
    startedAt,
    machine,
    model: modelFile,
    threads: options.threads,
    seed: options.seed,
    rounds: options.rounds,
    wasForced: options.force,
    subjects: await describeSubjects(names, { ...options, model: modelFile.name }),
    scenarios: reported,
    results,
  };
  show(terminalReport(finished), await writeReport(finished, options.out));
  return failures(results).length === 0 ? 0 : 1;
}

function subjectNames({ command, withPeers }: BenchOptions, reported: readonly Reported[]): SubjectName[] {
  const all = reported.flatMap(({ subjects }) => subjects);
  return withPeers || command === "decode" ? [...new Set(all)] : ["ingle"];
}

async function preparePeers(names: readonly SubjectName[], signal: AbortSignal): Promise<void> {
  if (names.includes("llama-server") || names.includes("llama-bench"))
    await ensureLlamaPrograms({ say, signal }, ["llama-server", "llama-bench"]);
  if (names.includes("node-llama-cpp")) await ensureNodeLlamaCpp({ say, signal });
}

async function qualityModel(
  command: "kv" | "quant",
  { model, headSize }: BenchOptions,
  signal: AbortSignal,
): Promise<QualityModel> {
  if (headSize !== undefined) return { headSize };
  if (model !== undefined) return { file: model };
  if (command === "kv") return { file: await starterModelPath(signal) };
  throw new BenchError(
    "quant needs a model that is not quantized: --model FILE, a GGUF file of F16 or BF16.",
  );
}

async function starterModelPath(signal: AbortSignal): Promise<string> {
  return await ensureStarterModel({
    signal,
    onProgress: ({ phase, bytes, totalBytes }) => {
      if (bytes === totalBytes) say(`Starter model: ${phase} done.`);
    },
  });
}

/** How each subject was started: its command with placeholders for this machine's folders. */
async function describeSubjects(
  names: readonly SubjectName[],
  options: Pick<SubjectOptions, "model" | "threads" | "slots" | "engine">,
): Promise<Run["subjects"]> {
  const { threads, slots } = options;
  const { release, commit } = await readPin();
  const llama = `llama.cpp ${release} (${commit.slice(0, 10)}), not patched`;
  const command = (name: "ingle" | "llama-server"): string =>
    httpCommand(name, options)
      .map((word) => path.basename(word))
      .join(" ");
  const all: Record<SubjectName, string> = {
    ingle: command("ingle"),
    "llama-server": `${command("llama-server")} # ${llama}`,
    "llama-bench": `llama-bench -p 0 -n 64 -r 1 -t ${threads} # ${llama}`,
    "node-llama-cpp": `${nodeLlamaCppVersion}, prebuilt binary, ${slots} sequences of ${contextLength} tokens, ${threads} threads`,
  };
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

function show(report: string, files: readonly string[]): void {
  process.stdout.write(`\n${report}\n\n`);
  for (const file of files) say(path.relative(process.cwd(), file));
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** The first Ctrl-C stops everything and waits for it; a second one exits at once. Both end every child. */
function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // every concurrent request listens
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(exitInterrupted);
      stop.abort(new BenchError("Stopped."));
    });
  }
  return stop.signal;
}

const signal = stopOnSignals();
try {
  process.exitCode = await main(process.argv.slice(2), signal);
} catch (error) {
  // Errors while everything is being stopped are consequences of stopping.
  if (signal.aborted) say("Stopped.");
  else if (error instanceof BenchError) say(error.message);
  else throw error;
  process.exitCode = signal.aborted ? exitInterrupted : 1;
}
