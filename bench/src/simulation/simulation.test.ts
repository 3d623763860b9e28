import { seededRandom } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { ClusterRules, fixedReplicas, simulate, type EndedRequest } from "./simulation.ts";
import type { RoutingName } from "./routing.ts";
import { stepTable, type ServiceTimes } from "./service-times.ts";
import { toRequest, SimulatedReplica } from "./simulated-replica.ts";
import { Conversations, Script, Workload, type ScriptedRequest } from "./workload.ts";

const service: ServiceTimes = {
  about: {},
  parallel: 4,
  kvTokens: 100_000,
  decodeSteps: [
    { replies: 1, ms: 10 },
    { replies: 4, ms: 16 },
  ],
  promptTokenMs: 1,
  requestMs: 5,
};

/** A fixed number of replicas. */
function fixed(replicas: number, more: Parameters<typeof fixedReplicas>[1] = {}) {
  return fixedReplicas(replicas, { routing: "least-loaded", ...more });
}

function play(
  requests: readonly ScriptedRequest[],
  { times = service, rules = fixed(1) }: { times?: ServiceTimes; rules?: ClusterRules } = {},
) {
  const ended: EndedRequest[] = [];
  const outcome = simulate({
    service: times,
    rules,
    source: new Script(requests),
    onEnd: (request) => ended.push(request),
  });
  return { outcome, ended: ended.toSorted((a, b) => a.arrivedAt - b.arrivedAt) };
}

const request = (
  at: number,
  session: number,
  promptTokens: number,
  replyTokens: number,
): ScriptedRequest => ({
  at,
  session,
  promptTokens,
  replyTokens,
});

/** The same engine, naively step by step; one prompt at a time, the oldest first. */
function stepByStep(
  requests: readonly ScriptedRequest[],
  times: ServiceTimes,
): { firstMs: number; totalMs: number }[] {
  const steps = stepTable(times);
  const state = requests.map((one) => ({
    ...one,
    prefill: one.promptTokens + times.requestMs / times.promptTokenMs,
    replied: 0,
    firstAt: 0,
    endAt: 0,
    isIn: false,
  }));
  let now = 0;
  while (state.some(({ endAt }) => endAt === 0)) {
    const isRunning = ({ isIn, endAt }: (typeof state)[number]): boolean => isIn && endAt === 0;
    for (const one of state)
      if (!one.isIn && one.at <= now && state.filter(isRunning).length < times.parallel) one.isIn = true;
    const running = state.filter(isRunning);
    const decoding = running.filter(({ prefill }) => prefill === 0);
    const prompt = running.find(({ prefill }) => prefill > 0);
    if (running.length === 0) {
      now = Math.min(...state.filter(({ isIn }) => !isIn).map(({ at }) => at));
      continue;
    }
    const decodeMs = steps[decoding.length] ?? 0;
    const places = times.parallel - running.length;
    const coming = state.filter(({ isIn, at }) => !isIn && at <= now).length;
    const crowd = Math.max(
      1,
      (running.length - decoding.length + Math.min(coming, places)) / decoding.length,
    );
    const { besideTokenMs = times.promptTokenMs } = times;
    const tokenMs = decoding.length === 0 ? times.promptTokenMs : besideTokenMs;
    const fitting = Math.floor(((5 * crowd - 1) * decodeMs) / tokenMs);
    const budget = decoding.length === 0 ? 1 : Math.min(Math.max(fitting, 16), 512);
    const tokens = prompt === undefined ? 0 : Math.min(prompt.prefill, budget);
    now += decodeMs + tokens * tokenMs;
    for (const one of decoding) {
      one.replied += 1;
      if (one.replied === one.replyTokens) one.endAt = now;
    }
    if (prompt === undefined) continue;
    prompt.prefill -= tokens;
    if (prompt.prefill > 0) continue;
    prompt.firstAt = now;
    prompt.replied = 1;
    if (prompt.replyTokens === 1) prompt.endAt = now;
  }
  return state.map(({ at, firstAt, endAt }) => ({
    firstMs: firstAt - at,
    totalMs: endAt - at,
  }));
}

describe("a replica", () => {
  it("takes for a request alone what was measured", () => {
    const { ended } = play([request(100, 1, 50, 21)]);
    expect(ended).toEqual([
      { arrivedAt: 100, waitedMs: 0, firstMs: 50 + 5, totalMs: 50 + 20 * 10 + 5, replica: 0 },
    ]);
  });

  it("shares steps among replies, and lets the others wait", () => {
    const times = { ...service, parallel: 2 };
    const { ended } = play([request(0, 1, 100, 11), request(1, 2, 1, 1), request(2, 3, 100, 11)], { times });
    const [first, second, third] = ended;
    expect(first?.firstMs).toBe(105);
    // Its only prompt token is part of a step in which the first reply goes on.
    expect(second?.waitedMs).toBe(0);
    expect(second?.totalMs).toBeGreaterThan(104);
    expect(second?.totalMs).toBeLessThan(125);
    expect(third?.waitedMs).toBeCloseTo((second?.totalMs ?? 0) - 1);
    expect(third?.firstMs).toBeGreaterThan(200);
  });

  it("does not compute again what the prefix cache has, and forgets the least recently used first", () => {
    const times = { ...service, kvTokens: 250 };
    const asked = [
      request(0, 1, 100, 1),
      request(1e4, 1, 151, 1),
      request(2e4, 2, 140, 1),
      request(3e4, 1, 160, 1),
    ];
    const { outcome, ended } = play(asked, { times });
    expect(ended.map(({ firstMs }) => firstMs)).toEqual([105, 151 - 101 + 5, 145, 165]);
    expect(outcome.cachedTokens).toBe(101);
    expect(play(asked, { times, rules: fixed(1, { hostTokens: 500 }) }).ended.at(-1)?.firstMs).toBe(
      160 - 152 + 5,
    );
  });

  it("lets a request wait whose tokens do not fit beside the others", () => {
    const { ended } = play([request(0, 1, 100, 11), request(0, 2, 100, 11)], {
      times: { ...service, kvTokens: 200 },
    });
    expect(ended[1]?.waitedMs).toBeCloseTo(ended[0]?.totalMs ?? 0);
  });

  it("holds as much of the KV cache as its requests have come to", () => {
    const replica = new SimulatedReplica(0, { service, hostTokens: 0, sharedTokens: 0 });
    replica.arrive(toRequest({ session: 1, promptTokens: 1000, replyTokens: 301 }, 0));
    expect(replica.kvUse).toBeCloseTo(1064 / service.kvTokens, 6);
    for (const now of [1005, 1505]) replica.happen(now, () => {});
    // 50 steps after the first token.
    expect(replica.kvUse).toBeCloseTo((1000 + 51 + 64) / service.kvTokens, 6);
    replica.happen(4005, () => {});
    expect(replica.kvUse).toBe(0);
  });

  it("refuses a request that finds the queue full", () => {
    const asked = Array.from({ length: 10 }, (_, index) => request(0, index, 100, 10));
    const { outcome } = play(asked, { rules: fixed(1, { waitingMax: 3 }) });
    expect(outcome).toMatchObject({ requests: 7, refused: 3 });
  });

  it("takes as long as an engine that is computed step by step", () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const random = seededRandom(seed, "scripts");
      let at = 0;
      const asked = Array.from({ length: 40 }, (_, session) => {
        at += random.uint32() % 400;
        return request(at, session, 1 + (random.uint32() % 200), 1 + (random.uint32() % 40));
      });
      const times = { ...service, besideTokenMs: 1 + seed / 20 };
      const { ended } = play(asked, { times });
      const exact = stepByStep(asked, times);
      const mean = (
        key: "firstMs" | "totalMs",
        list: readonly { firstMs: number; totalMs: number }[],
      ): number => list.reduce((sum, one) => sum + one[key], 0) / list.length;
      // The naive engine lets no request wait for the end of a step.
      expect(mean("totalMs", ended) / mean("totalMs", exact)).toBeCloseTo(1, 1);
      expect(Math.abs(mean("firstMs", ended) - mean("firstMs", exact))).toBeLessThan(
        0.1 * mean("firstMs", exact) + 16,
      );
    }
  });
});

describe("a cluster", () => {
  it("has the waiting times of queueing theory where that knows them", () => {
    // One place, equal requests, random arrivals: a wait of ρ/(2(1-ρ)) services on average (Pollaczek and Khinchine).
    const random = seededRandom(5, "poisson");
    const serviceMs = 100 + 5 + 10 * 10;
    for (const load of [0.5, 0.8]) {
      let at = 0;
      const asked = Array.from({ length: 60_000 }, (_, session) => {
        at -= (Math.log((random.uint32() + 1) / 2 ** 32) * serviceMs) / load;
        return request(at, session, 100, 11);
      });
      const { outcome } = play(asked, {
        times: { ...service, parallel: 1 },
        rules: fixed(1, { waitingMax: 1e6 }),
      });
      expect(outcome.waited.mean() / ((load / (2 * (1 - load))) * serviceMs)).toBeCloseTo(1, 1);
    }
  });

  it("takes prompts from the cache when sessions stay, and computes them again with round robin", () => {
    const workload = Workload.parse({ conversationsPerHour: 300, hours: 4, messages: 6 });
    const share = (routing: RoutingName): number => {
      const rules = fixed(5, { routing, hostTokens: 100_000 });
      const { cachedTokens, promptTokens } = simulate({
        service,
        rules,
        source: new Conversations(workload),
      });
      return cachedTokens / promptTokens;
    };
    expect(share("session")).toBeGreaterThan(0.5);
    expect(share("round-robin")).toBeLessThan(share("session") / 2);
  });

  it("follows the day with its replicas, and does not lose a request when it shrinks", () => {
    const autoscaling = {
      minReplicas: 2,
      maxReplicas: 20,
      waitingPerReplica: 4,
      inFlightPerReplica: 3,
      kvUsagePercent: 80,
    };
    const rules = ClusterRules.parse({ routing: "session", autoscaling, coldStartSeconds: 60 });
    const workload = Workload.parse({ conversationsPerHour: 1500 });
    const outcome = simulate({ service, rules, source: new Conversations(workload) });
    expect(outcome.refused).toBe(0);
    expect(outcome.replicasMost).toBeGreaterThan(4);
    expect(outcome.replicaHours).toBeLessThan(24 * outcome.replicasMost * 0.8);
    expect(outcome.requests).toBeGreaterThan(1500 * 24 * 2);
    const always = simulate({
      service,
      rules: fixed(20, { routing: "session" }),
      source: new Conversations(workload),
    });
    expect(outcome.requests / always.requests).toBeCloseTo(1, 1);
    expect(outcome.waited.percentile(99)).toBeGreaterThan(always.waited.percentile(99));
  });

  it("plays the same day twice from one seed", () => {
    const day = (seed: number) => {
      const workload = Workload.parse({ conversationsPerHour: 400, hours: 5, seed });
      const { requests, cachedTokens, replicaHours } = simulate({
        service,
        rules: fixed(4, { routing: "session" }),
        source: new Conversations(workload),
      });
      return { requests, cachedTokens, replicaHours };
    };
    expect(day(3)).toEqual(day(3));
    expect(day(3)).not.toEqual(day(4));
  });
});
