// What a scenario is: a name, what it measures, and one or more cases that drive a freshly started subject.
// The files in scenarios/ make them, the runner runs them, the report lays them out.
import type { ProcessUsage } from "./process-usage.ts";
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
  /** Drawn in the scenario's picture. */
  isDrawn?: boolean;
}

export interface CaseContext {
  subject: Subject;
  /** The same texts for every subject of a round. */
  prompts: Prompts;
  signal: AbortSignal;
}

/** What one run of a case found, by the keys of the scenario's measures. */
export interface Measured {
  values: Record<string, number>;
  requests: readonly StreamRecord[];
}

export interface ModelChoice extends ModelFiles {
  /** A model that is all overhead, when the user gives one. */
  tinyModel: string | undefined;
  signal: AbortSignal;
}

export interface ScenarioCase {
  name: string;
  /** Default: the model of the run, which is what `choice` has. */
  model?: (choice: ModelChoice) => Promise<ModelFiles>;
  /** The first request is part of what is measured: nothing is sent before it. */
  isCold?: boolean;
  /** So many are computed at the same time where the run has fewer. Default: as many as the run has. */
  slots?: number;
  /** Runs only where everyone computes at least so many requests at the same time. Default: always. */
  slotsMin?: number;
  /** Throws BenchError when a request failed. */
  run(context: CaseContext): Promise<Measured>;
}

export interface Scenario {
  name: string;
  /** What a user would feel, in a sentence. */
  meaning: string;
  /** Who is compared, Ingle first. */
  subjects: readonly SubjectName[];
  measures: readonly Measure[];
  cases: readonly ScenarioCase[];
}

/** The subjects of a scenario whose requests only a server can take. */
export const servers: readonly SubjectName[] = ["ingle", "llama-server"];
/** The subjects of a scenario that streams answers and nothing else. */
export const everyone: readonly SubjectName[] = ["ingle", "llama-server", "node-llama-cpp"];

/** One run of one case by one subject; `error` stands where figures would be. */
export interface Round {
  scenario: string;
  case: string;
  round: number;
  seed: number;
  subject: SubjectName;
  /** The share of all cores that was busy before the subject was started. */
  busyShare: number;
  values: Record<string, number>;
  requests: Record<string, number | boolean>[];
  error?: string;
}

/** Figures that the runner adds to every scenario. */
export const usageMeasures: readonly Measure[] = [
  { key: "peakMb", title: "peak memory", unit: "MB", better: "lower" },
  { key: "cpuSeconds", title: "processor time", unit: "s", better: "lower" },
];

/** The figures of `usageMeasures`: the peak over the process's life, the time of what was measured. */
export function usageValues(
  before: ProcessUsage | undefined,
  after: ProcessUsage | undefined,
): Record<string, number> {
  if (before === undefined || after === undefined) return {};
  return { peakMb: after.peakMb, cpuSeconds: after.cpuSeconds - before.cpuSeconds };
}
