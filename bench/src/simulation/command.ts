// `bench simulate PLAN`: simulates each row of a plan and writes a table.
import path from "node:path";
import { markdownTable, terminalTable, writeResults } from "../results.ts";
import { readPlan, type PlanRow } from "./plan.ts";
import { simulate, type Outcome } from "./simulation.ts";
import type { ServiceTimes } from "./service-times.ts";
import { Conversations } from "./workload.ts";

interface SimulateOptions {
  plan: string;
  /** Folder of the report. */
  out: string;
  say: (line: string) => void;
}

interface Played extends PlanRow {
  figures: Record<string, number>;
}

const columns: readonly { key: string; title: string; shown: (value: number) => string }[] = [
  { key: "requests", title: "requests", shown: (value) => value.toLocaleString("en") },
  { key: "refused", title: "refused", shown: (value) => value.toLocaleString("en") },
  { key: "waitedP50Ms", title: "queue time p50", shown: seconds },
  { key: "waitedP95Ms", title: "p95", shown: seconds },
  { key: "waitedP99Ms", title: "p99", shown: seconds },
  { key: "firstP95Ms", title: "first token p95", shown: seconds },
  { key: "replicaHours", title: "replica hours", shown: (value) => value.toFixed(0) },
  { key: "replicasMost", title: "most replicas", shown: String },
  {
    key: "cachedShare",
    title: "prompt tokens from the cache",
    shown: (value) => `${(100 * value).toFixed(0)} %`,
  },
];

/** Returns the table for a terminal and the written files. Throws BenchError for an invalid plan. */
export async function runSimulate({
  plan: file,
  out,
  say,
}: SimulateOptions): Promise<{ report: string; files: string[] }> {
  const plan = await readPlan(file);
  const startedAt = new Date();
  const rows = plan.rows.map((row) => play(plan.service, row, say));
  const table = [
    ["", ...columns.map(({ title }) => title)],
    ...rows.map(({ name, figures }) => [
      name,
      ...columns.map(({ key, shown }) => shown(figures[key] ?? Number.NaN)),
    ]),
  ];
  const { about, service } = plan;
  const markdown = [
    "# Simulation",
    about,
    `Service times: ${path.basename(plan.serviceFile)}. Times in seconds.`,
    `${markdownTable(table)}\n`,
  ].join("\n\n");
  const json = { startedAt, about, service, rows };
  const files = await writeResults(out, { name: "simulate", startedAt }, { json, markdown });
  return { report: terminalTable(table), files };
}

function play(service: ServiceTimes, row: PlanRow, say: (line: string) => void): Played {
  const startedAt = performance.now();
  const { workload, cluster } = row;
  const source = new Conversations(workload);
  const outcome = simulate({ service, rules: cluster, source, sharedTokens: workload.sharedTokens });
  const tookMs = performance.now() - startedAt;
  say(`${row.name}: ${outcome.requests.toLocaleString("en")} requests in ${seconds(tookMs)} s.`);
  return { ...row, figures: { ...toFigures(outcome), tookMs } };
}

function toFigures(outcome: Outcome): Record<string, number> {
  const { requests, refused, waited, first, total, replicaHours, replicasMost } = outcome;
  return {
    requests,
    refused,
    waitedP50Ms: waited.percentile(50),
    waitedP95Ms: waited.percentile(95),
    waitedP99Ms: waited.percentile(99),
    firstP50Ms: first.percentile(50),
    firstP95Ms: first.percentile(95),
    totalP50Ms: total.percentile(50),
    totalP95Ms: total.percentile(95),
    replicaHours,
    replicasMost,
    cachedShare: outcome.cachedTokens / outcome.promptTokens,
  };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
