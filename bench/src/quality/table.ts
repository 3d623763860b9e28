// The report of the commands kv, quant and speed: a row for each type, level or program, as a table, markdown, JSON and a
// chart.
import path from "node:path";
import { drawBars, type BarGroup } from "../bar-chart.ts";
import {
  chartFooter,
  headLines,
  markdownList,
  markdownTable,
  terminalTable,
  writeResults,
  type Conditions,
} from "../results.ts";

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
  /** Its name in the chart; the name by default. */
  bar?: string;
  /** Whether Ingle offers this type or level, or computes it; the others are only for comparison. */
  isOurs: boolean;
  /** By column key; missing if not measured. */
  values: Record<string, number>;
  /** Why it was not measured. */
  error?: string;
}

export interface QualityRun extends Conditions {
  command: "kv" | "quant" | "speed";
  title: string;
  meaning: string;
  /** What was measured and how, one sentence each. */
  conditions: readonly string[];
  columns: readonly Column[];
  rows: readonly Row[];
}

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

function errorLines(rows: readonly Row[]): string[] {
  return rows.flatMap(({ name, error }) =>
    error === undefined ? [] : [`${name} was not measured: ${error}`],
  );
}

export function terminalQuality(run: QualityRun): string {
  const head = headLines(run, run.conditions);
  return [...head, "", terminalTable(qualityTable(run)), ...errorLines(run.rows)].join("\n");
}

export function markdownQuality(run: QualityRun): string {
  const errors = errorLines(run.rows);
  return `${[
    `# ${run.title}`,
    run.meaning,
    markdownList(headLines(run, run.conditions)),
    markdownTable(qualityTable(run)),
    ...(errors.length === 0 ? [] : [markdownList(errors)]),
  ].join("\n\n")}\n`;
}

/** Writes `<date>-<command>.json`, the same as `.md`, and `<command>-<model>.svg`. Returns the files. */
export async function writeQuality(run: QualityRun, folder: string): Promise<string[]> {
  const charts = { [`${run.command}-${path.parse(run.model.name).name}`]: drawQuality(run) };
  return await writeResults(
    folder,
    { name: run.command, startedAt: run.startedAt },
    { json: run, markdown: markdownQuality(run), charts },
  );
}

export function drawQuality(run: QualityRun): string {
  const groups = run.columns.flatMap((column): BarGroup[] => {
    if (column.isDrawn !== true) return [];
    const bars = run.rows.flatMap(({ name, bar = name, isOurs, values }) => {
      const value = values[column.key];
      if (value === undefined) return [];
      return [{ name: bar, value, label: figure(value, column.digits), isOurs }];
    });
    const note = [column.unit, `${column.better} is better`].filter((word) => word !== "").join(", ");
    return bars.length === 0 ? [] : [{ title: column.title, note, bars }];
  });
  return drawBars({ title: run.title, subtitle: run.meaning, groups, footer: chartFooter(run) });
}
