// The report of a run: a table for the terminal, the same table in Markdown, all figures as JSON, and a chart for each scenario
// with peers.
import { drawBars } from "./bar-chart.ts";
import { compare, failures, formatNumber, type Comparison, type ReportedScenario } from "./comparison.ts";
import {
  chartFooter,
  headLines,
  markdownList,
  markdownTable,
  terminalTable,
  writeResults,
  type Conditions,
} from "./results.ts";
import type { Round } from "./scenario.ts";
import type { SubjectName } from "./subject.ts";

export interface Run extends Conditions {
  command: string;
  rounds: number;
  /** How each subject was started, without this machine's folders. */
  subjects: Partial<Record<SubjectName, string>>;
  scenarios: readonly ReportedScenario[];
  results: readonly Round[];
}

/** In column order. */
const peerNames: readonly SubjectName[] = ["llama-server", "llama-bench", "node-llama-cpp"];

/** Rows of cells; the first row is the header. */
export function comparisonTable(comparisons: readonly Comparison[]): string[][] {
  const peers = peerNames.filter((peer) => comparisons.some(({ ratios }) => ratios[peer] !== undefined));
  const head = ["scenario", "measure", "ingle", ...peers.flatMap((peer) => [peer, "ratio"])];
  const rows = comparisons.map(({ scenario, case: name, measure, medians, ratios }) => [
    `${scenario}, ${name}`,
    `${measure.title} (${measure.unit}, ${measure.better} is better)`,
    cell(medians.ingle),
    ...peers.flatMap((peer) => [cell(medians[peer]), cell(ratios[peer])]),
  ]);
  return [head, ...rows];
}

function cell(value: number | undefined): string {
  return value === undefined ? "–" : formatNumber(value);
}

function linesBefore(run: Run): string[] {
  return headLines(run, [`medians of ${run.rounds} rounds`]);
}

/** The report for a terminal. */
export function terminalReport(run: Run): string {
  const failed = failures(run.results);
  return [
    ...linesBefore(run),
    "",
    terminalTable(comparisonTable(compare(run.scenarios, run.results))),
    ...(failed.length === 0 ? [] : ["", `${failed.length} rounds failed:`, ...failed]),
  ].join("\n");
}

export function markdownReport(run: Run): string {
  const failed = failures(run.results);
  const started = Object.entries(run.subjects).map(([name, how]) => `${name}: \`${how}\``);
  return `${[
    `# Benchmark: ${run.command}`,
    markdownList(linesBefore(run)),
    markdownList(run.scenarios.map(({ name, meaning }) => `**${name}.** ${meaning}`)),
    markdownTable(comparisonTable(compare(run.scenarios, run.results))),
    "A ratio is Ingle's figure divided by the other's.",
    ...(failed.length === 0 ? [] : ["## Failed rounds", markdownList(failed)]),
    "## How they were started",
    markdownList(started),
  ].join("\n\n")}\n`;
}

/** Writes `<date>-<command>.json`, the same as `.md`, and `<scenario>.svg`. Returns the files. */
export async function writeReport(run: Run, folder: string): Promise<string[]> {
  const all = compare(run.scenarios, run.results);
  const { scenarios, results, ...head } = run;
  const comparisons = all.map(({ measure, ...rest }) => ({
    ...rest,
    measure: measure.key,
    unit: measure.unit,
  }));
  const charts: Record<string, string> = {};
  for (const scenario of scenarios) {
    const chart = drawScenario(scenario, all, run);
    if (chart !== undefined) charts[scenario.name] = chart;
  }
  const json = { ...head, comparisons, results };
  return await writeResults(
    folder,
    { name: run.command, startedAt: run.startedAt },
    { json, markdown: markdownReport(run), charts },
  );
}

/** Undefined without peers. */
function drawScenario(
  scenario: ReportedScenario,
  comparisons: readonly Comparison[],
  run: Run,
): string | undefined {
  const drawn = comparisons.filter(
    (one) => one.scenario === scenario.name && one.measure.isDrawn === true && hasPeer(one),
  );
  if (drawn.length === 0) return undefined;
  const groups = drawn.map(({ case: name, measure, medians }) => ({
    title: `${name}: ${measure.title}`,
    note: `${measure.unit}, ${measure.better} is better`,
    bars: scenario.subjects.flatMap((subject) => {
      const value = medians[subject];
      return value === undefined ? [] : [{ name: subject, value, isOurs: subject === "ingle" }];
    }),
  }));
  return drawBars({ title: scenario.name, subtitle: scenario.meaning, groups, footer: chartFooter(run) });
}

function hasPeer({ ratios }: Comparison): boolean {
  return Object.keys(ratios).length > 0;
}
