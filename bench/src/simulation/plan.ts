// The input of `bench simulate`: a file with measured service times, settings for all rows of the table, and what each row
// changes in them.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { BenchError, errorMessage } from "../bench-error.ts";
import { readServiceTimes, type ServiceTimes } from "./service-times.ts";
import { ClusterRules } from "./simulation.ts";
import { Workload } from "./workload.ts";

/** Nested partial settings of a row. They are validated after merging. */
const Settings = z.record(z.string(), z.unknown());

const PlanFile = z.strictObject({
  /** The plan's question, in a sentence or two. */
  about: z.string(),
  /** A file of `bench service-times`, beside this file. */
  service: z.string(),
  workload: Settings,
  cluster: Settings,
  rows: z
    .array(
      z.strictObject({ name: z.string(), workload: Settings.default({}), cluster: Settings.default({}) }),
    )
    .min(1)
    .max(100),
});

export interface PlanRow {
  name: string;
  workload: Workload;
  cluster: ClusterRules;
}

export interface Plan {
  about: string;
  serviceFile: string;
  service: ServiceTimes;
  rows: readonly PlanRow[];
}

/** Throws BenchError for an invalid file, naming the row and the field. */
export async function readPlan(file: string): Promise<Plan> {
  const { about, service, workload, cluster, rows } = checked(
    PlanFile,
    parseJson(await readFile(file, "utf8"), file),
    file,
  );
  const serviceFile = path.resolve(path.dirname(file), service);
  return {
    about,
    serviceFile,
    service: await readServiceTimes(serviceFile),
    rows: rows.map((row) => ({
      name: row.name,
      workload: checked(Workload, merged(workload, row.workload), `${file}, "${row.name}", workload`),
      cluster: checked(ClusterRules, merged(cluster, row.cluster), `${file}, "${row.name}", cluster`),
    })),
  };
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BenchError(`${file} is not JSON: ${errorMessage(error)}`, { cause: error });
  }
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, where: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new BenchError(`${where}: ${z.prettifyError(result.error)}`);
}

/** Objects are merged field by field; anything else replaces what was there. */
function merged(base: unknown, change: unknown): unknown {
  if (!isObject(base) || !isObject(change)) return change;
  const fields = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(change))
    fields.set(name, fields.has(name) ? merged(fields.get(name), value) : value);
  return Object.fromEntries(fields);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
