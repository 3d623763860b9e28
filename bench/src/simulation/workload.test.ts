import { describe, expect, it } from "vitest";
import { Conversations, Workload, type Message } from "./workload.ts";

/** All messages and their times if replies take no time. */
function day(more: object): (Message & { at: number })[] {
  const source = new Conversations(Workload.parse({ conversationsPerHour: 1000, ...more }));
  const asked: (Message & { at: number })[] = [];
  for (let at = source.time; at !== Infinity; at = source.time) {
    const message = source.take();
    if (message === undefined) continue;
    asked.push({ ...message, at });
    source.replied(message.session, at);
  }
  return asked;
}

describe("a workload", () => {
  it("has as many conversations as it was told, most of them in the afternoon", () => {
    const asked = day({ messages: 1, bursts: { everyHours: 1000, minutes: 1, factor: 1 } });
    expect(asked.length / 24_000).toBeCloseTo(1, 1);
    const within = (hour: number) =>
      asked.filter(({ at }) => Math.abs(at / 3_600_000 - hour) < 1).length / 2000;
    expect(within(14)).toBeCloseTo(1.6, 0);
    expect(within(2)).toBeLessThan(0.5);
  });

  it("has bursts", () => {
    const perMinute = (more: object): number[] => {
      const counts = Array.from({ length: 24 * 60 }, () => 0);
      for (const { at } of day({ messages: 1, swing: 0, ...more })) {
        const minute = Math.floor(at / 60_000);
        counts[minute] = (counts[minute] ?? 0) + 1;
      }
      return counts.toSorted((a, b) => b - a).slice(0, 10);
    };
    const [calm] = perMinute({ bursts: { everyHours: 1000, minutes: 1, factor: 1 } });
    expect(perMinute({ bursts: { everyHours: 3, minutes: 10, factor: 5 } }).at(-1)).toBeGreaterThan(
      1.5 * (calm ?? 0),
    );
  });

  it("lets a conversation's prompts grow by what was said, up to the context's length", () => {
    const asked = day({ hours: 1, messages: 5, sharedTokens: 100, contextTokens: 4096 });
    const histories = new Map<number, number>();
    for (const { session, promptTokens, replyTokens } of asked) {
      expect(promptTokens).toBeGreaterThan(histories.get(session) ?? 100);
      expect(promptTokens + replyTokens).toBeLessThanOrEqual(4096);
      histories.set(session, promptTokens + replyTokens);
    }
    expect(asked.length).toBeGreaterThan(2 * histories.size);
  });

  it("has the lengths of its source", () => {
    const asked = day({ messages: 1, contextTokens: 1e6 });
    const mean = (key: "promptTokens" | "replyTokens") =>
      asked.reduce((sum, one) => sum + one[key], 0) / asked.length;
    expect(mean("promptTokens") / 161).toBeCloseTo(1, 1);
    expect(mean("replyTokens") / 338).toBeCloseTo(1, 1);
    const steps = day({ messages: 1, contextTokens: 1e6, traffic: "agent-steps" });
    const sorted = steps.map(({ promptTokens }) => promptTokens).toSorted((a, b) => a - b);
    expect((sorted[Math.floor(sorted.length / 2)] ?? 0) / 857).toBeCloseTo(1, 1);
    expect((sorted[Math.floor(sorted.length * 0.9)] ?? 0) / 5342).toBeCloseTo(1, 1);
  });
});
