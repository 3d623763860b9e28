// How busy a server keeps its threads and the card while it works: on Linux the busiest thread of each process, and what nvidia-smi says
// about the card.
import { readFile, readdir } from "node:fs/promises";
import { runProgram } from "../child-process.ts";
import { parseCpuSeconds } from "../machine.ts";
import { median } from "../statistics.ts";

const smiLimitMs = 5_000;
const smiPauseMs = 250;

export interface Busy {
  /** Shares of one core: of the busiest thread in the server's process, and in the engine's. Undefined without /proc. */
  server: number | undefined;
  engine: number | undefined;
  /** Share of the time in which the card computed anything; undefined without nvidia-smi. */
  card: number | undefined;
}

/** How busy the server with this process id was during `work`. */
export async function whileBusy<T>(
  pid: number,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<{ result: T; busy: Busy }> {
  const [before, begin] = [await threadTimes(pid), performance.now()];
  const watching = new AbortController();
  const card = watchCard(AbortSignal.any([signal, watching.signal]));
  try {
    const result = await work();
    const seconds = (performance.now() - begin) / 1000;
    watching.abort();
    const after = await threadTimes(pid);
    return {
      result,
      busy: {
        server: busiest(before?.server, after?.server, seconds),
        engine: busiest(before?.engine, after?.engine, seconds),
        card: await card,
      },
    };
  } finally {
    watching.abort();
  }
}

type Times = ReadonlyMap<string, number>;

function busiest(before: Times | undefined, after: Times | undefined, seconds: number): number | undefined {
  if (after === undefined) return undefined;
  return Math.max(0, ...[...after].map(([thread, used]) => (used - (before?.get(thread) ?? 0)) / seconds));
}

/** Of a thread that has ended since it was listed: no time. */
const endedThread = `) S${" 0".repeat(50)}`;

/** Seconds that each thread has computed, of the server and of its engine's process. Undefined without /proc. */
async function threadTimes(pid: number): Promise<{ server: Times; engine: Times } | undefined> {
  if (process.platform !== "linux") return undefined;
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).match(/\d+/g) ?? [];
  const engines = await Promise.all(children.map(timesOfProcess));
  return {
    server: await timesOfProcess(String(pid)),
    engine: new Map(engines.flatMap((times) => [...times])),
  };
}

async function timesOfProcess(pid: string): Promise<Times> {
  const threads = await readdir(`/proc/${pid}/task`);
  const read = async (thread: string): Promise<[string, number]> => [
    thread,
    parseCpuSeconds(await readFile(`/proc/${pid}/task/${thread}/stat`, "utf8").catch(() => endedThread)),
  ];
  return new Map(await Promise.all(threads.map(read)));
}

/** The median share of time in which the first NVIDIA card was busy until the signal; undefined without nvidia-smi. */
async function watchCard(until: AbortSignal): Promise<number | undefined> {
  const shares: number[] = [];
  const query = ["--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "--id=0"];
  while (!until.aborted) {
    try {
      const percent = Number(await runProgram("nvidia-smi", query, { limitMs: smiLimitMs, signal: until }));
      shares.push(percent / 100);
    } catch {
      break; // there is no such program, or the measurement has ended
    }
    await new Promise((resolve) => setTimeout(resolve, smiPauseMs));
  }
  return shares.length === 0 ? undefined : median(shares);
}
