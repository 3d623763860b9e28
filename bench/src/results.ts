// What all reports have in common: the lines before the figures, tables for terminals and markdown, and the names of the files.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Machine, ModelFile } from "./machine.ts";

/** Where and when figures were measured. */
export interface Conditions {
  startedAt: Date;
  machine: Machine;
  model: ModelFile;
  threads: number;
  seed: number;
  /** The machine may have been busy: good for experiments, not for publishing. */
  wasForced: boolean;
}

const forcedNote = "Forced: the machine may have been busy with something else. Not for publishing.";

/** What a reader must know before the figures, one line each. */
export function headLines(
  { startedAt, machine, model, threads, seed, wasForced }: Conditions,
  more: readonly string[],
): string[] {
  return [
    `${startedAt.toISOString().slice(0, 10)}, commit ${machine.commit}, seed ${seed}`,
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${machine.system}, Node ${machine.node}`,
    `${model.name} (${Math.round(model.bytes / 1e6)} MB, sha256 ${model.sha256}…), ${threads} threads`,
    ...more,
    ...(wasForced ? [forcedNote] : []),
  ];
}

/** The provenance in one line, for charts. */
export function chartFooter({ model, threads, machine }: Conditions): string {
  return `${model.name}, ${threads} threads, ${machine.cpu}, commit ${machine.commit}`;
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

export function markdownList(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

/**
 * Writes `<date>-<name>.json`, `<date>-<name>.md` unless it is undefined, and the charts by their names. Returns the files in this
 * order.
 */
export async function writeResults(
  folder: string,
  { name, startedAt }: { name: string; startedAt: Date },
  { json, markdown, charts = {} }: { json: unknown; markdown?: string; charts?: Record<string, string> },
): Promise<string[]> {
  const base = `${startedAt.toISOString().slice(0, 19).replaceAll(":", "-")}-${name}`;
  const texts = new Map([[`${base}.json`, `${JSON.stringify(json, null, 2)}\n`]]);
  if (markdown !== undefined) texts.set(`${base}.md`, markdown);
  for (const [chart, text] of Object.entries(charts)) texts.set(`${chart}.svg`, text);
  await mkdir(folder, { recursive: true });
  const files = [...texts].map(([file, text]) => ({ file: path.join(folder, file), text }));
  for (const { file, text } of files) await writeFile(file, text);
  return files.map(({ file }) => file);
}
