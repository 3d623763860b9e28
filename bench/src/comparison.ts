// Turns rounds into comparisons: medians of each subject, and ratios of Ingle to each peer.
import { usageMeasures, type Measure, type Round, type Scenario } from "./scenario.ts";
import { median } from "./statistics.ts";
import type { SubjectName } from "./subject.ts";

/** One measure of one case. */
export interface Comparison {
  scenario: string;
  case: string;
  measure: Measure;
  /** Medians over the rounds that have the figure; subjects without any are missing. */
  medians: Partial<Record<SubjectName, number>>;
  /** Ingle's median divided by the peer's. */
  ratios: Partial<Record<SubjectName, number>>;
}

/** The part of a scenario that the report needs. */
export type ReportedScenario = Pick<Scenario, "name" | "meaning" | "subjects" | "measures">;

/** Ordered by scenario, case and measure; measures without any figures are left out. */
export function compare(scenarios: readonly ReportedScenario[], rounds: readonly Round[]): Comparison[] {
  return scenarios.flatMap((scenario) => {
    const own = rounds.filter((round) => round.scenario === scenario.name);
    const cases = [...new Set(own.map((round) => round.case))];
    return cases.flatMap((name) =>
      [...scenario.measures, ...usageMeasures]
        .map((measure) => compareOne(scenario.name, name, measure, own))
        .filter(({ medians }) => Object.keys(medians).length > 0),
    );
  });
}

function compareOne(scenario: string, name: string, measure: Measure, rounds: readonly Round[]): Comparison {
  const figures = new Map<SubjectName, number[]>();
  for (const { subject, values, case: own } of rounds) {
    const value = own === name ? values[measure.key] : undefined;
    if (value !== undefined) figures.set(subject, [...(figures.get(subject) ?? []), value]);
  }
  const medians: Comparison["medians"] = {};
  for (const [subject, values] of figures) medians[subject] = median(values);
  const ratios: Comparison["ratios"] = {};
  const { ingle } = medians;
  for (const subject of figures.keys()) {
    const peer = medians[subject];
    // A difference may be 0 or negative; a ratio of it is meaningless.
    if (subject === "ingle" || ingle === undefined || peer === undefined || ingle <= 0 || peer <= 0) continue;
    ratios[subject] = ingle / peer;
  }
  return { scenario, case: name, measure, medians, ratios };
}

/** The failed rounds, as sentences. */
export function failures(rounds: readonly Round[]): string[] {
  return rounds
    .filter(({ error }) => error !== undefined)
    .map(({ scenario, case: name, round, subject, error }) =>
      `${scenario}, ${name}, round ${round}, ${subject}: ${error}`.replaceAll(/\s*\n\s*/g, " | "),
    );
}

/** Three significant digits, no exponent. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}
