import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRouter, ReadyReplicas } from "./routing.ts";
import { toRequest, SimulatedReplica } from "./simulated-replica.ts";

const service = {
  about: {},
  parallel: 1,
  kvTokens: 10,
  decodeSteps: [{ replies: 1, ms: 1 }],
  promptTokenMs: 1,
  requestMs: 0,
};

function cluster(count: number) {
  const ready = new ReadyReplicas(count);
  for (let id = 0; id < count; id += 1) ready.add(id, 0);
  const replicas = Array.from(
    { length: count },
    (_, id) => new SimulatedReplica(id, { service, hostTokens: 0, sharedTokens: 0 }),
  );
  return { ready, replicas, spillAt: 2 };
}

const sessions = Array.from({ length: 3000 }, (_, session) => session);

describe("routing by session", () => {
  it("spreads sessions over all replicas, and keeps each where it is", () => {
    const route = createRouter("session", cluster(10));
    const chosen = sessions.map(route);
    expect(sessions.map(route)).toEqual(chosen);
    for (let id = 0; id < 10; id += 1) {
      const share = chosen.filter((one) => one === id).length / sessions.length;
      expect(share).toBeGreaterThan(0.05);
      expect(share).toBeLessThan(0.17);
    }
  });

  it("moves only the sessions of a replica that goes, and back when it is there again", () => {
    const of = cluster(10);
    const route = createRouter("session", of);
    const before = sessions.map(route);
    of.ready.remove(4);
    const without = sessions.map(route);
    for (const [session, id] of before.entries()) {
      if (id === 4) expect(without[session]).not.toBe(4);
      else expect(without[session]).toBe(id);
    }
    of.ready.add(4, 0);
    expect(sessions.map(route)).toEqual(before);
  });

  it("passes a replica over whose queue is long", () => {
    const of = cluster(3);
    const route = createRouter("session", of);
    const busy = route(7);
    for (let count = 0; count < 3; count += 1)
      of.replicas[busy]?.arrive(toRequest({ session: 7, promptTokens: 5, replyTokens: 5 }, 0));
    of.ready.setLoad(busy, 3);
    expect(route(7)).not.toBe(busy);
  });
});

describe("other routing", () => {
  it("asks one replica after the other with round robin", () => {
    const route = createRouter("round-robin", cluster(3));
    const chosen = [1, 2, 3, 4, 5, 6].map(route);
    expect(new Set(chosen.slice(0, 3)).size).toBe(3);
    expect(chosen.slice(3)).toEqual(chosen.slice(0, 3));
  });

  it("always finds a replica with the fewest requests", () => {
    const change = fc.record({ id: fc.nat(5), load: fc.nat(9), isReady: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const ready = new ReadyReplicas(6);
        const loads = new Map<number, number>();
        for (const { id, load, isReady } of changes) {
          if (isReady && ready.has(id)) ready.setLoad(id, load);
          else if (isReady) ready.add(id, load);
          else if (ready.has(id)) ready.remove(id);
          if (isReady) loads.set(id, load);
          else loads.delete(id);
          expect(ready.count).toBe(loads.size);
          const least = loads.size === 0 ? undefined : Math.min(...loads.values());
          expect(loads.get(ready.leastLoaded())).toBe(least);
        }
      }),
    );
  });
});
