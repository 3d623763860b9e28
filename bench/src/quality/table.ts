// The report of the commands kv and quant: a row for the original and for each type or level, as a table, markdown, JSON and a
// chart.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { drawBars, type BarGroup } from "../bar-chart.ts";
import type { Machine, ModelFile } from "../machine.ts";
import { markdownTable, terminalTable } from "../report.ts";

/** One figure of each row. */
export interface Column {
  key: string;
  title: string;
  unit: string;
  better: "higher" | "lower";
  digits: number;
  isDrawn?: boolean;
}

export interface Row {
  name: string;
  /** Text after the name. */
  note: string;
  /** Whether Ingle offers it; the others are for comparison only. */
  isOurs: boolean;
  /** By column key; missing if not measured. */
  values: Record<string, number>;
  /** Why it was not measured. */
  error?: string;
}

export interface QualityRun {
  command: "kv" | "quant";
  title: string;
  meaning: string;
  startedAt: Date;
  machine: Machine;
  model: ModelFile;
  threads: number;
  seed: number;
  wasForced: boolean;
  /** What was measured and how, one sentence each. */
  conditions: readonly string[];
  columns: readonly Column[];
  rows: readonly Row[];
}

const forcedNote = "Forced: the machine may have been busy with something else. Not for publishing.";

/** Rows of cells; the first is the header. Columns without any figures are left out. */
export function qualityTable({ columns, rows }: Pick<QualityRun, "columns" | "rows">): string[][] {
  const shown = columns.filter(({ key }) => rows.some(({ values }) => values[key] !== undefined));
  return [
    ["", "", ...shown.map(({ title, unit }) => (unit === "" ? title : `${title}, ${unit}`))],
    ...rows.map(({ name, note, values }) => [
      name,
      note,
      ...shown.map(({ key, digits }) => figure(values[key], digits)),
    ]),
  ];
}

function figure(value: number | undefined, digits: number): string {
  return value === undefined ? "–" : value.toFixed(digits);
}

/** What a reader must know before the figures, one line each. */
function headLines({
  startedAt,
  machine,
  model,
  threads,
  seed,
  conditions,
  wasForced,
}: QualityRun): string[] {
  return [
    `${startedAt.toISOString().slice(0, 10)}, commit ${machine.commit}, seed ${seed}`,
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${machine.system}, Node ${machine.node}`,
    `${model.name} (${Math.round(model.bytes / 1e6)} MB, sha256 ${model.sha256}…), ${threads} threads`,
    ...conditions,
    ...(wasForced ? [forcedNote] : []),
  ];
}

function errorLines(rows: readonly Row[]): string[] {
  return rows.flatMap(({ name, error }) =>
    error === undefined ? [] : [`${name} was not measured: ${error}`],
  );
}

export function terminalQuality(run: QualityRun): string {
  return [...headLines(run), "", terminalTable(qualityTable(run)), ...errorLines(run.rows)].join("\n");
}

export function markdownQuality(run: QualityRun): string {
  const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");
  const errors = errorLines(run.rows);
  return `${[
    `# ${run.title}`,
    run.meaning,
    list(headLines(run)),
    markdownTable(qualityTable(run)),
    ...(errors.length === 0 ? [] : [list(errors)]),
  ].join("\n\n")}\n`;
}

/** Writes `<date>-<command>.json`, the same as `.md`, and `<command>-<model>.svg`. Returns the files. */
export async function writeQuality(run: QualityRun, folder: string): Promise<string[]> {
  const stamp = run.startedAt.toISOString().slice(0, 19).replaceAll(":", "-");
  const base = path.join(folder, `${stamp}-${run.command}`);
  const picture = path.join(folder, `${run.command}-${path.parse(run.model.name).name}.svg`);
  const files = new Map([
    [`${base}.json`, `${JSON.stringify(run, null, 2)}\n`],
    [`${base}.md`, markdownQuality(run)],
    [picture, drawQuality(run)],
  ]);
  await mkdir(folder, { recursive: true });
  for (const [file, text] of files) await writeFile(file, text);
  return [...files.keys()];
}

export function drawQuality(run: QualityRun): string {
  const groups = run.columns.flatMap((column): BarGroup[] => {
    if (column.isDrawn !== true) return [];
    const bars = run.rows.flatMap(({ name, isOurs, values }) => {
      const value = values[column.key];
      if (value === undefined) return [];
      return [{ name, value, label: figure(value, column.digits), isOurs }];
    });
    const note = [column.unit, `${column.better} is better`].filter((word) => word !== "").join(", ");
    return bars.length === 0 ? [] : [{ title: column.title, note, bars }];
  });
  const { machine, model, threads } = run;
  const footer = `${model.name}, ${threads} threads, ${machine.cpu}, commit ${machine.commit}`;
  return drawBars({ title: run.title, subtitle: run.meaning, groups, footer });
}
