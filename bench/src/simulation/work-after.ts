// The work of a request that no client sees: it comes after the last token and delays the requests beside it. It is what a replica with a
// queue takes longer than the simulation says without it.
import { median } from "../statistics.ts";
import type { ServiceTimes } from "./service-times.ts";
import { ClusterRules, simulate } from "./simulation.ts";
import { Script, type Message } from "./workload.ts";

/** Requests sent to one replica at the same time, more than it computes at once. */
export interface CrowdSample {
  requests: readonly Pick<Message, "promptTokens" | "replyTokens">[];
  /** From sending them to the last token of the last reply. */
  totalMs: number;
}

/** Adds `afterMs` to times measured without it: the median of the samples. 0 if they took no longer than simulated. */
export function withWorkAfter(service: ServiceTimes, samples: readonly CrowdSample[]): ServiceTimes {
  const missing = samples.map((sample) => {
    const withoutMs = crowdMs({ ...service, afterMs: 0 }, sample);
    // About one for each request: nobody waits for the work after the last one, nor for that of a reply that ends together with it.
    const delayPerMs = crowdMs({ ...service, afterMs: 1 }, sample) - withoutMs;
    return (sample.totalMs - withoutMs) / delayPerMs;
  });
  return { ...service, afterMs: Math.max(0, median(missing)) };
}

function crowdMs(service: ServiceTimes, { requests }: CrowdSample): number {
  const autoscaling = { minReplicas: 1, maxReplicas: 1, waitingPerReplica: 1, kvUsagePercent: 0 };
  const rules = ClusterRules.parse({ waitingMax: requests.length, autoscaling });
  const source = new Script(requests.map((request, session) => ({ ...request, session, at: 0 })));
  let lastMs = 0;
  simulate({ service, rules, source, onEnd: ({ totalMs }) => (lastMs = Math.max(lastMs, totalMs)) });
  return lastMs;
}
