// Memory and processor time of a process, read from /proc.
import { readFile } from "node:fs/promises";

/** Linux counts a process's time in hundredths of a second, on every architecture that we know of. */
const ticksPerSecond = 100;

export interface ProcessUsage {
  /** Peak memory in MB (10^6 bytes), including pages of mapped files. */
  peakMb: number;
  /** Processor time of all its threads, in seconds. */
  cpuSeconds: number;
}

/** Undefined without /proc. */
export async function readProcessUsage(pid: number): Promise<ProcessUsage | undefined> {
  if (process.platform !== "linux") return undefined;
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
