// The report of an engine's crash: how its process ended, its last output, and the shape of the requests that were running. It never
// contains texts, tokens or names of clients.
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { EngineError } from "../../base/errors.ts";
import { libraryPaths } from "../../base/home.ts";
import type { NativeRequest, NativeStats } from "../addon.ts";

/** How a process ended. */
export interface ProcessExit {
  signal: NodeJS.Signals | null;
  exitCode: number | null;
  /** It made no progress within its time limit, and was killed for that. */
  isHung: boolean;
  /** The last lines of llama.cpp's log, and the end of stderr. */
  log: readonly string[];
  stderr: string;
}

/** A request without its content. */
export type RequestShape =
  | {
      kind: "generation";
      promptTokens: number;
      hasImages: boolean;
      isConstrained: boolean;
      stops: number;
      maxTokens: number;
      logprobs: number;
      sampling: Omit<NativeRequest["sampling"], "logitBias"> & { logitBiases: number };
    }
  | { kind: "embeddings"; texts: number; tokens: number };

export interface CrashReport {
  /** The paths of the files of the model and of its draft model. */
  models: readonly string[];
  pid: number | undefined;
  uptimeMs: number;
  ending: ProcessExit;
  requests: readonly RequestShape[];
  stats: NativeStats | undefined;
}

/** How many reports are kept. */
const reportsMax = 20;

export function requestShape({
  tokens,
  images,
  constraint,
  sampling,
  ...request
}: NativeRequest): RequestShape {
  const { logitBias, ...numbers } = sampling;
  return {
    kind: "generation",
    promptTokens: tokens.length,
    hasImages: images !== null,
    isConstrained: constraint !== null,
    stops: request.stops.length,
    maxTokens: request.maxTokens,
    logprobs: request.logprobs,
    sampling: { ...numbers, logitBiases: logitBias.length / 2 },
  };
}

/** How the process ended, in words, such as "SIGSEGV". */
function howEnded({ signal, exitCode, isHung }: ProcessExit): string {
  if (isHung) return "it made no progress and was killed";
  if (signal === "SIGKILL") return "it was killed, most likely because the machine ran out of memory";
  return signal ?? `exit code ${exitCode}`;
}

/** The error of everything that an engine was doing when its process ended. */
export function engineCrashed(ending: ProcessExit): EngineError {
  return new EngineError(
    "engine_crashed",
    `The process of this model's engine ended (${howEnded(ending)}), and its running requests with it.`,
  );
}

/** Writes a report that only the user can read, and removes the oldest ones. Returns its path; throws file system errors. */
export async function writeCrashReport(
  report: CrashReport,
  { env = process.env, now = new Date() }: { env?: NodeJS.ProcessEnv; now?: Date } = {},
): Promise<string> {
  const { crashReportsDir: folder } = libraryPaths(env);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${now.toISOString().replaceAll(":", "-")}-${report.pid ?? 0}.json`;
  const file = path.join(folder, name);
  const { version, platform, arch } = process;
  const text = JSON.stringify({ at: now, node: version, platform, arch, ...report }, undefined, 2);
  await writeFile(file, `${text}\n`, { mode: 0o600 });
  const reports = (await readdir(folder)).filter((each) => each.endsWith(".json")).toSorted();
  for (const old of reports.slice(0, -reportsMax)) await rm(path.join(folder, old), { force: true });
  return file;
}
