// Defines a scenario: a name, what it measures, and one or more cases that drive a freshly started subject.
// The files in scenarios/ define them.
import type { ProcessUsage } from "./machine.ts";
import type { Prompts } from "./prompts.ts";
import type { StreamRecord } from "./stream-record.ts";
import type { ModelFiles, Subject, SubjectName } from "./subject.ts";

export type Unit = "tokens/s" | "ms" | "s" | "tokens" | "clients" | "µs" | "MB" | "×";

/** One figure of a scenario. */
export interface Measure {
  key: string;
  title: string;
  unit: Unit;
  better: "higher" | "lower";
  /** Whether the scenario's chart shows it. */
  isDrawn?: boolean;
}

/** A measure of which more is better. */
export function higherIsBetter(key: string, title: string, unit: Unit): Measure {
  return { key, title, unit, better: "higher" };
}

/** A measure of which less is better. */
export function lowerIsBetter(key: string, title: string, unit: Unit): Measure {
  return { key, title, unit, better: "lower" };
}

/** The measure, shown in the scenario's chart. */
export function charted(measure: Measure): Measure {
  return { ...measure, isDrawn: true };
}

export interface CaseContext {
  subject: Subject;
  /** The same texts for every subject of a round. */
  prompts: Prompts;
  signal: AbortSignal;
}

/** Figures of one run of a case, by the keys of the scenario's measures. */
export interface Measured {
  values: Record<string, number>;
  requests: readonly StreamRecord[];
}

export interface ModelChoice extends ModelFiles {
  /** A model with next to nothing to compute, if the user gives one. */
  tinyModel: string | undefined;
  signal: AbortSignal;
}

export interface ScenarioCase {
  name: string;
  /** Default: the model of the run, from `choice`. */
  model?: (choice: ModelChoice) => Promise<ModelFiles>;
  /** The first request is measured: nothing is sent before it. */
  isCold?: boolean;
  /** Minimum number of slots, if the run has fewer. Default: as many as the run has. */
  slots?: number;
  /** Runs only with at least this many slots. Default: always. */
  slotsMin?: number;
  /** Throws BenchError if a request failed. */
  run(context: CaseContext): Promise<Measured>;
}

export interface Scenario {
  name: string;
  /** What a user would notice, in a sentence. */
  meaning: string;
  /** The compared subjects, Ingle first. */
  subjects: readonly SubjectName[];
  measures: readonly Measure[];
  cases: readonly ScenarioCase[];
}

/** The subjects of a scenario that needs a server. */
export const serverSubjects: readonly SubjectName[] = ["ingle", "llama-server"];
/** The subjects of a scenario that only streams replies. */
export const allSubjects: readonly SubjectName[] = ["ingle", "llama-server", "node-llama-cpp"];

/** One run of one case by one subject; has `error` instead of figures if it failed. */
export interface Round {
  scenario: string;
  case: string;
  round: number;
  seed: number;
  subject: SubjectName;
  /** Load before the subject was started, as a share of all cores. */
  busyShare: number;
  values: Record<string, number>;
  requests: Record<string, number | boolean>[];
  error?: string;
}

/** Figures that the runner adds to every scenario. */
export const usageMeasures: readonly Measure[] = [
  lowerIsBetter("peakMb", "peak memory", "MB"),
  lowerIsBetter("cpuSeconds", "processor time", "s"),
];

/** The figures of `usageMeasures`: peak memory over the process's lifetime, processor time of the measured part. */
export function usageValues(
  before: ProcessUsage | undefined,
  after: ProcessUsage | undefined,
): Record<string, number> {
  if (before === undefined || after === undefined) return {};
  return { peakMb: after.peakMb, cpuSeconds: after.cpuSeconds - before.cpuSeconds };
}
