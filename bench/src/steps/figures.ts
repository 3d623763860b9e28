// What the server's metrics say about the engine's steps between two scrapes: each phase's time in a step, graphs, and bytes.
import { BenchError } from "../bench-error.ts";

/** The phases of a step, in their order, with what they are. */
export const phases = {
  schedule: "planning the step",
  cache: "copying and freeing cells of the KV cache",
  graph: "building the graph",
  launch: "launching it; on the processor, computing it",
  wait: "waiting for the device",
  sample: "choosing tokens",
  publish: "handing events over",
  embed: "texts for embeddings",
} as const;
type Phase = keyof typeof phases;
export const phaseNames = Object.keys(phases).filter((name): name is Phase => Object.hasOwn(phases, name));

function forEachPhase(figure: (phase: Phase) => number): Record<Phase, number> {
  return {
    schedule: figure("schedule"),
    cache: figure("cache"),
    graph: figure("graph"),
    launch: figure("launch"),
    wait: figure("wait"),
    sample: figure("sample"),
    publish: figure("publish"),
    embed: figure("embed"),
  };
}

/** Totals since the server started; times in seconds. */
interface StepTotals {
  steps: number;
  tokens: number;
  deviceSeconds: number;
  graphs: number;
  bytes: number;
  seconds: Record<Phase, number>;
}

/** From a server's `/metrics`. Throws BenchError if it has none. */
export async function scrapeStepTotals(url: string): Promise<StepTotals> {
  const response = await fetch(`${url}/metrics`);
  if (!response.ok) throw new BenchError(`The server's metrics could not be read: ${response.status}.`);
  return readStepTotals(await response.text());
}

/** From the text of `/metrics`; 0 for what it lacks. */
export function readStepTotals(metrics: string): StepTotals {
  const samples = new Map(
    metrics
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line): [string, number] => {
        const end = line.lastIndexOf(" ");
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }),
  );
  const read = (name: string): number => samples.get(`ingle_${name}`) ?? 0;
  const seconds = (phase: Phase): number => read(`step_seconds_total{phase="${phase}"}`);
  return {
    steps: read("engine_turns_total"),
    tokens: read("generated_tokens_total"),
    deviceSeconds: read("device_seconds_total"),
    graphs: read("graphs_built_total"),
    bytes: read("output_bytes_total"),
    seconds: forEachPhase(seconds),
  };
}

/** One step on average. */
export interface StepFigures {
  steps: number;
  tokens: number;
  /** Milliseconds, of all phases together and of each. */
  ms: number;
  phaseMs: Record<Phase, number>;
  /** Milliseconds that the device computed, by its own clock: a part of launching and waiting. 0 for the processor. */
  deviceMs: number;
  graphsPerThousand: number;
  bytes: number;
}

/** NaN if there was no step between the scrapes. */
export function stepFigures(before: StepTotals, after: StepTotals): StepFigures {
  const steps = after.steps - before.steps;
  const inStep = (phase: Phase): number => ((after.seconds[phase] - before.seconds[phase]) * 1000) / steps;
  const phaseMs = forEachPhase(inStep);
  return {
    steps,
    tokens: (after.tokens - before.tokens) / steps,
    ms: phaseNames.reduce((sum, phase) => sum + phaseMs[phase], 0),
    phaseMs,
    deviceMs: ((after.deviceSeconds - before.deviceSeconds) * 1000) / steps,
    graphsPerThousand: (1000 * (after.graphs - before.graphs)) / steps,
    bytes: (after.bytes - before.bytes) / steps,
  };
}
