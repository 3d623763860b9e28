import { describe, expect, it } from "vitest";
import { Autoscaler, AutoscalingRules } from "./autoscaler.ts";

const rules = (more: object = {}) =>
  AutoscalingRules.parse({
    minReplicas: 1,
    maxReplicas: 100,
    waitingPerReplica: 4,
    kvUsagePercent: 80,
    ...more,
  });
const figures = (more: object) => ({ waiting: 0, running: 0, kvUse: 0, ready: 4, ...more });

describe("the autoscaler", () => {
  it("wants as many replicas as the metric that asks for most", () => {
    expect(new Autoscaler(rules()).decide(0, 4, figures({ waiting: 22, kvUse: 0.2 }))).toBe(6);
    expect(new Autoscaler(rules()).decide(0, 4, figures({ waiting: 2, kvUse: 1 }))).toBe(5);
    const inFlight = rules({ inFlightPerReplica: 6 });
    expect(new Autoscaler(inFlight).decide(0, 4, figures({ waiting: 2, running: 40 }))).toBe(7);
  });

  it("leaves alone what is near enough, and stays within its limits", () => {
    expect(new Autoscaler(rules()).decide(0, 10, figures({ waiting: 43 }))).toBe(10);
    expect(new Autoscaler(rules({ maxReplicas: 5 })).decide(0, 4, figures({ waiting: 900 }))).toBe(5);
    expect(
      new Autoscaler(
        rules({ minReplicas: 3, scaleDown: { windowSeconds: 0, percent: 100, periodSeconds: 15 } }),
      ).decide(0, 4, figures({})),
    ).toBe(3);
  });

  it("at most doubles, or adds four, in fifteen seconds", () => {
    const scaler = new Autoscaler(rules());
    expect(scaler.decide(0, 2, figures({ waiting: 900 }))).toBe(6);
    expect(scaler.decide(15, 6, figures({ waiting: 900 }))).toBe(12);
    expect(scaler.decide(20, 12, figures({ waiting: 900 }))).toBe(12);
    expect(scaler.decide(35, 12, figures({ waiting: 900 }))).toBe(24);
  });

  it("shrinks when the smaller number was enough for the whole window", () => {
    const scaler = new Autoscaler(
      rules({ scaleDown: { windowSeconds: 60, percent: 100, periodSeconds: 15 } }),
    );
    expect(scaler.decide(0, 8, figures({ waiting: 32 }))).toBe(8);
    expect(scaler.decide(15, 8, figures({ waiting: 20 }))).toBe(8);
    for (const at of [30, 45, 60]) expect(scaler.decide(at, 8, figures({ waiting: 8 }))).toBe(8);
    expect(scaler.decide(75, 8, figures({ waiting: 8 }))).toBe(5);
    expect(scaler.decide(90, 5, figures({ waiting: 8 }))).toBe(2);
  });

  it("shrinks by no more than its part of a period", () => {
    const scaler = new Autoscaler(rules({ scaleDown: { windowSeconds: 0, percent: 10, periodSeconds: 60 } }));
    expect(scaler.decide(0, 50, figures({}))).toBe(45);
    expect(scaler.decide(15, 45, figures({}))).toBe(45);
    expect(scaler.decide(75, 45, figures({}))).toBe(40);
    const oneByOne = new Autoscaler(rules({ scaleDown: { windowSeconds: 0, pods: 1, periodSeconds: 60 } }));
    expect(oneByOne.decide(0, 50, figures({}))).toBe(49);
    expect(oneByOne.decide(30, 49, figures({}))).toBe(49);
    expect(oneByOne.decide(60, 49, figures({}))).toBe(48);
  });
});
