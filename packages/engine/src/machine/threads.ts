// How many threads compute: one for each core that is made for speed, within the container's quota. More are slower: a step ends with
// its slowest thread, and threads that share a core, have an efficiency core or have spent their quota keep the others waiting.
import { z } from "zod";
import { deviceBounds } from "./device-bounds.ts";
import type { Processors } from "./processors.ts";

const { min: threadsMin, max: threadsMax } = deviceBounds.threads;

export const ThreadCount = z.int().min(threadsMin).max(threadsMax);

/** The default number of threads, and why it is that one. */
export interface ThreadChoice {
  threads: number;
  /** For people, for example "one per performance core". */
  reason: string;
}

export function chooseThreads({ logical, performanceCores, quota }: Processors): ThreadChoice {
  if (quota !== undefined && quota < performanceCores) {
    // One and a half hold one thread: of two, replies were a fifth slower, since both stand still for a quarter of the time.
    const threads = Math.min(Math.max(Math.floor(quota), threadsMin), threadsMax);
    const share = `${Number(quota.toFixed(2))} of ${logical} processors`;
    return { threads, reason: `a quota allows this container or service ${share}` };
  }
  const threads = Math.min(performanceCores, threadsMax);
  return { threads, reason: performanceCores < logical ? "one per performance core" : "one per core" };
}
