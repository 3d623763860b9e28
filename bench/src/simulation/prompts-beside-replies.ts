// What a prompt costs beside a running reply. A chunk of a prompt shares its step with replies, so it is short, and the fixed part of its
// cost weighs more than in a prompt that is computed alone.
import { median } from "../statistics.ts";
import type { ServiceTimes } from "./service-times.ts";
import { fixedReplicas, simulate } from "./simulation.ts";
import { Script, type ScriptedRequest } from "./workload.ts";

/** Two requests to one replica: the second arrives while the first one's reply is running. */
export interface BesideSample {
  running: ScriptedRequest;
  arriving: ScriptedRequest;
  /** Time to first token of the second. */
  firstMs: number;
}

/** Adds `besideTokenMs` to measured times: the median of what makes the simulation agree with each sample. Never less than alone. */
export function withPromptsBeside(service: ServiceTimes, samples: readonly BesideSample[]): ServiceTimes {
  const { promptTokenMs } = service;
  const factors = samples.map((sample) => {
    const onceMs = firstMs({ ...service, besideTokenMs: promptTokenMs }, sample);
    const twiceMs = firstMs({ ...service, besideTokenMs: 2 * promptTokenMs }, sample);
    // The time to the first token grows linearly with this cost.
    return 1 + (sample.firstMs - onceMs) / (twiceMs - onceMs);
  });
  return { ...service, besideTokenMs: promptTokenMs * Math.max(1, median(factors)) };
}

function firstMs(service: ServiceTimes, { running, arriving }: BesideSample): number {
  let ms = Number.NaN;
  simulate({
    service,
    rules: fixedReplicas(1),
    source: new Script([running, arriving]),
    onEnd: (ended) => {
      if (ended.arrivedAt === arriving.at) ms = ended.firstMs;
    },
  });
  return ms;
}
