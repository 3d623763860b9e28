// The report of a run: a table for the terminal, the same in markdown, everything as JSON, and a chart for each scenario
// with peers.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { drawBars } from "./bar-chart.ts";
import { compare, failures, formatNumber, type Comparison, type ReportedScenario } from "./comparison.ts";
import type { Machine, ModelFile } from "./machine.ts";
import type { Round } from "./scenario.ts";
import type { SubjectName } from "./subject.ts";

export interface Run {
  command: string;
  startedAt: Date;
  machine: Machine;
  model: ModelFile;
  threads: number;
  seed: number;
  rounds: number;
  /** The machine may have been busy: good for experiments, not for publishing. */
  wasForced: boolean;
  /** How each subject was started, without this machine's folders. */
  subjects: Partial<Record<SubjectName, string>>;
  scenarios: readonly ReportedScenario[];
  results: readonly Round[];
}

/** In column order. */
const peerNames: readonly SubjectName[] = ["llama-server", "llama-bench", "node-llama-cpp"];
const forcedNote = "Forced: the machine may have been busy with something else. Not for publishing.";

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

/** Aligned columns; numbers to the right. */
export function terminalTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) =>
        column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return rows.map(line).join("\n");
}

export function markdownTable(rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]): string =>
    `| ${row.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`;
  const [head = [], ...body] = rows;
  const rule = `|${head.map((_, column) => (column < 2 ? "---" : "---:")).join("|")}|`;
  return [line(head), rule, ...body.map(line)].join("\n");
}

/** What a reader must know before the figures, one line each. */
export function headLines(run: Run): string[] {
  const { machine, model } = run;
  return [
    `${run.startedAt.toISOString().slice(0, 10)}, commit ${machine.commit}, ${run.rounds} rounds, medians, seed ${run.seed}`,
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${machine.system}, Node ${machine.node}`,
    `${model.name} (${Math.round(model.bytes / 1e6)} MB, sha256 ${model.sha256}…), ${run.threads} threads`,
    ...(run.wasForced ? [forcedNote] : []),
  ];
}

/** The report for a terminal. */
export function terminalReport(run: Run): string {
  const failed = failures(run.results);
  return [
    ...headLines(run),
    "",
    terminalTable(comparisonTable(compare(run.scenarios, run.results))),
    ...(failed.length === 0 ? [] : ["", `${failed.length} rounds failed:`, ...failed]),
  ].join("\n");
}

export function markdownReport(run: Run): string {
  const failed = failures(run.results);
  const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");
  const started = Object.entries(run.subjects).map(([name, how]) => `${name}: \`${how}\``);
  return `${[
    `# Benchmark: ${run.command}`,
    list(headLines(run)),
    list(run.scenarios.map(({ name, meaning }) => `**${name}.** ${meaning}`)),
    markdownTable(comparisonTable(compare(run.scenarios, run.results))),
    "A ratio is Ingle's figure divided by the other's.",
    ...(failed.length === 0 ? [] : ["## Failed rounds", list(failed)]),
    "## How they were started",
    list(started),
  ].join("\n\n")}\n`;
}

/** Writes `<date>-<command>.json`, the same as `.md`, and `<scenario>.svg`. Returns the files. */
export async function writeReport(run: Run, folder: string): Promise<string[]> {
  const stamp = run.startedAt.toISOString().slice(0, 19).replaceAll(":", "-");
  const base = path.join(folder, `${stamp}-${run.command}`);
  const comparisons = compare(run.scenarios, run.results);
  const { scenarios, results, ...head } = run;
  const figures = comparisons.map(({ measure, ...rest }) => ({
    ...rest,
    measure: measure.key,
    unit: measure.unit,
  }));
  const json = JSON.stringify({ ...head, comparisons: figures, results }, null, 2);
  const files = new Map([
    [`${base}.json`, `${json}\n`],
    [`${base}.md`, markdownReport(run)],
  ]);
  for (const scenario of scenarios) {
    const picture = drawScenario(scenario, comparisons, run);
    if (picture !== undefined) files.set(path.join(folder, `${scenario.name}.svg`), picture);
  }
  await mkdir(folder, { recursive: true });
  for (const [file, text] of files) await writeFile(file, text);
  return [...files.keys()];
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
  const { machine, model } = run;
  const footer = `${model.name}, ${run.threads} threads, ${machine.cpu}, commit ${machine.commit}`;
  return drawBars({ title: scenario.name, subtitle: scenario.meaning, groups, footer });
}

function hasPeer({ ratios }: Comparison): boolean {
  return Object.keys(ratios).length > 0;
}
