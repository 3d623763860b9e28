import { expect, it } from "vitest";
import type { ServiceTimes } from "./service-times.ts";
import { ClusterRules, simulate } from "./simulation.ts";
import { withWorkAfter } from "./work-after.ts";
import { Script } from "./workload.ts";

const service: ServiceTimes = {
  about: {},
  parallel: 2,
  kvTokens: 1000,
  decodeSteps: [{ replies: 1, ms: 10 }],
  promptTokenMs: 1,
  requestMs: 5,
  afterMs: 0,
};

/** What a client would measure on a replica with these times. */
function sampleOf(times: ServiceTimes, count: number) {
  const requests = Array.from({ length: count }, (_, session) => ({
    session,
    at: 0,
    promptTokens: 20 + session,
    replyTokens: 4,
  }));
  const autoscaling = { minReplicas: 1, maxReplicas: 1, waitingPerReplica: 1, kvUsagePercent: 0 };
  const rules = ClusterRules.parse({ autoscaling });
  let totalMs = 0;
  simulate({
    service: times,
    rules,
    source: new Script(requests),
    onEnd: (ended) => (totalMs = Math.max(totalMs, ended.totalMs)),
  });
  return { requests, totalMs };
}

it("finds the work after replies in how long a queue takes", () => {
  const samples = [7, 12, 30].map((count) => sampleOf({ ...service, afterMs: 8 }, count));
  expect(withWorkAfter(service, samples).afterMs).toBeCloseTo(8, 3);
});

it("finds none where a queue takes no longer than simulated", () => {
  const { requests, totalMs } = sampleOf(service, 12);
  expect(withWorkAfter(service, [{ requests, totalMs: 0.9 * totalMs }]).afterMs).toBe(0);
});
