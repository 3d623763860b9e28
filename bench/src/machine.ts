// The provenance of a result: the machine, the commit, the model file, and the load of other processes.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { availableParallelism, cpus, release, totalmem } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BenchError } from "./bench-error.ts";
import { runProgram } from "./child-process.ts";
import { workspaceFolder } from "./workspace.ts";

/** Above this share of all cores, other processes disturb the measurement. */
const busyShareMax = 0.08;
/** How long one load measurement takes, in milliseconds. */
const watchMs = 2_000;
/** How long to wait for a temporary load to pass: the kernel cleans up after a program that ended. */
const calmLimitMs = 30_000;
const gitLimitMs = 30_000;
/** Hexadecimal digits of the model's checksum in a report. */
const sumDigits = 16;

export interface Machine {
  system: string;
  cpu: string;
  cores: number;
  memoryGib: number;
  node: string;
  /** The measured commit, followed by `-dirty` if the working tree differs from it. */
  commit: string;
}

export interface ModelFile {
  /** Without its folder. */
  name: string;
  bytes: number;
  /** The first digits of the file's sha256. */
  sha256: string;
}

export async function describeMachine(signal?: AbortSignal): Promise<Machine> {
  const git = async (...args: string[]): Promise<string> =>
    (await runProgram("git", args, { cwd: workspaceFolder, limitMs: gitLimitMs, signal })).trim();
  const commit = await git("rev-parse", "--short=12", "HEAD");
  const changes = await git("status", "--porcelain");
  return {
    system: `${process.platform} ${release()} ${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    commit: changes === "" ? commit : `${commit}-dirty`,
  };
}

/** Reads the whole file, which also brings it into the page cache for all subjects. */
export async function describeModel(file: string, signal?: AbortSignal): Promise<ModelFile> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file, { signal })) hash.update(piece);
  const { size } = await stat(file);
  return { name: path.basename(file), bytes: size, sha256: hash.digest("hex").slice(0, sumDigits) };
}

/**
 * The share of all cores that other processes use, once it is low enough to measure. Throws BenchError if it stays too
 * high. With `force`, returns the first value.
 */
export async function assertIdle(options: { force: boolean; signal?: AbortSignal }): Promise<number> {
  const giveUpAt = performance.now() + calmLimitMs;
  for (;;) {
    const share = await busyShare(watchMs, options.signal);
    if (share <= busyShareMax || options.force) return share;
    if (performance.now() < giveUpAt) continue;
    throw new BenchError(
      `This machine is busy with something else (${Math.round(share * 100)} % of its cores), so figures would mean ` +
        "nothing. Stop what else runs, or pass --force; the report then says that it was forced.",
    );
  }
}

async function busyShare(forMs: number, signal: AbortSignal | undefined): Promise<number> {
  const before = await readCpuTimes();
  await sleep(forMs, undefined, { signal });
  const after = await readCpuTimes();
  const total = after.total - before.total;
  return total > 0 ? (after.busy - before.busy) / total : 0;
}

interface CpuTimes {
  busy: number;
  total: number;
}

async function readCpuTimes(): Promise<CpuTimes> {
  if (process.platform === "linux") return parseCpuTimes(await readFile("/proc/stat", "utf8"));
  const all = cpus().flatMap(({ times }) => Object.values(times));
  const idle = cpus().map(({ times }) => times.idle);
  const total = all.reduce((a, b) => a + b, 0);
  return { busy: total - idle.reduce((a, b) => a + b, 0), total };
}

/**
 * The first line of /proc/stat: user nice system idle iowait irq softirq steal …; waiting for a disk does not count as
 * load, time taken by the hypervisor for others does.
 */
export function parseCpuTimes(text: string): CpuTimes {
  const fields = (/^cpu +(.*)$/m.exec(text)?.[1] ?? "").split(" ").slice(0, 8).map(Number);
  const total = fields.reduce((a, b) => a + b, 0);
  return { busy: total - (fields[3] ?? 0) - (fields[4] ?? 0), total };
}

/** Linux counts a process's time in hundredths of a second, on every architecture that we know of. */
const ticksPerSecond = 100;

export interface ProcessUsage {
  /** Peak memory in MB (10^6 bytes), including pages of mapped files. */
  peakMb: number;
  /** Processor time of all its threads, in seconds. */
  cpuSeconds: number;
}

/** Of the process and its children: Ingle computes each model in a child. Undefined without /proc. */
export async function readProcessUsage(pid: number): Promise<ProcessUsage | undefined> {
  if (process.platform !== "linux") return undefined;
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).match(/\d+/g) ?? [];
  const usages = await Promise.all([pid, ...children].map(readUsage));
  return {
    peakMb: usages.reduce((sum, { peakMb }) => sum + peakMb, 0),
    cpuSeconds: usages.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
  };
}

async function readUsage(pid: number | string): Promise<ProcessUsage> {
  const [status, line] = await Promise.all([
    readFile(`/proc/${pid}/status`, "utf8"),
    readFile(`/proc/${pid}/stat`, "utf8"),
  ]);
  return { peakMb: parsePeakMb(status), cpuSeconds: parseCpuSeconds(line) };
}

export function parsePeakMb(status: string): number {
  const kibibytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
  return (kibibytes * 1024) / 1e6;
}

/** Fields 14 and 15 of the line; counted after the name, which may contain spaces and parentheses. */
export function parseCpuSeconds(line: string): number {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
