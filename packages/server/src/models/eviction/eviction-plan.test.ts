import { fitsInto } from "@ingle/engine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planEviction, type Resident } from "./eviction-plan.ts";

const resident = (name: string, host: number, rest: Partial<Resident> = {}) => ({
  name,
  byMemory: { host },
  isPinned: false,
  isLeaving: false,
  leases: 0,
  lastUse: 0,
  ...rest,
});
const budget = { byMemory: { host: 10 } };
const need = (host: number) => ({ host });
const listEvicted = (plan: ReturnType<typeof planEviction<ReturnType<typeof resident>>>) =>
  plan.kind === "waits" ? plan.evict.map(({ name }) => name) : plan.kind;

describe("room for one more model", () => {
  it("is there while memory and number allow it", () => {
    const present = [resident("a", 4)];
    expect(listEvicted(planEviction(need(6), present, { budget }))).toBe("fits");
    expect(listEvicted(planEviction(need(6), present, { budget, loadedMax: 2 }))).toBe("fits");
    expect(listEvicted(planEviction(need(99), present, {}))).toBe("fits");
  });

  it("is made by the one that was used longest ago, and no more than needed", () => {
    const present = [resident("new", 4, { lastUse: 3 }), resident("old", 4, { lastUse: 1 })];
    expect(listEvicted(planEviction(need(5), present, { budget }))).toEqual(["old"]);
    expect(listEvicted(planEviction(need(1), present, { budget, loadedMax: 2 }))).toEqual(["old"]);
  });

  it("is made by models that nobody uses before those that somebody does", () => {
    const present = [resident("busy", 4, { lastUse: 1, leases: 1 }), resident("free", 4, { lastUse: 2 })];
    expect(listEvicted(planEviction(need(5), present, { budget }))).toEqual(["free"]);
    expect(listEvicted(planEviction(need(9), present, { budget }))).toEqual(["free", "busy"]);
  });

  it("spares the small when the large one had to leave anyway", () => {
    const present = [resident("small", 1, { lastUse: 1 }), resident("large", 8, { lastUse: 2 })];
    expect(listEvicted(planEviction(need(9), present, { budget }))).toEqual(["large"]);
  });

  it("is waited for where those that leave already make it", () => {
    const present = [resident("leaving", 8, { isLeaving: true }), resident("a", 2)];
    expect(listEvicted(planEviction(need(8), present, { budget }))).toEqual([]);
  });

  it("is never there when the model is too large, or pinned ones are in the way", () => {
    expect(listEvicted(planEviction(need(11), [], { budget }))).toBe("never");
    expect(listEvicted(planEviction(need(5), [resident("a", 6, { isPinned: true })], { budget }))).toBe(
      "never",
    );
  });

  it("counts each memory by itself, and all of them together where there is such a bound", () => {
    const gpu = resident("a", 1, { byMemory: { host: 1, gpu: 6 } });
    const both = { byMemory: { host: 10, gpu: 8 } };
    expect(listEvicted(planEviction({ host: 1, gpu: 1 }, [gpu], { budget: both }))).toBe("fits");
    expect(listEvicted(planEviction({ host: 1, gpu: 3 }, [gpu], { budget: both }))).toEqual(["a"]);
    expect(listEvicted(planEviction(need(1), [gpu], { budget: { ...both, totalBytes: 7 } }))).toEqual(["a"]);
  });

  it("never asks a pinned one, nor one more than it takes, and then there is enough", () => {
    const residents = fc.array(
      fc.record({
        name: fc.uuid(),
        byMemory: fc.record({ host: fc.nat(9) }),
        isPinned: fc.boolean(),
        isLeaving: fc.boolean(),
        leases: fc.nat(2),
        lastUse: fc.nat(9),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(residents, fc.nat(12), fc.integer({ min: 1, max: 6 }), (present, host, loadedMax) => {
        const limits = { budget, loadedMax };
        const plan = planEviction(need(host), present, limits);
        const fits = (beside: readonly Resident[]): boolean =>
          beside.length < loadedMax &&
          fitsInto(
            { host: beside.reduce((sum, { byMemory }) => sum + (byMemory["host"] ?? 0), host) },
            budget,
          );
        const pinned = present.filter(({ isPinned, isLeaving }) => isPinned && !isLeaving);
        expect(fits(present)).toBe(plan.kind === "fits");
        if (plan.kind === "never") expect(fits(pinned)).toBe(false);
        if (plan.kind !== "waits") return;
        expect(plan.evict.some(({ isPinned, isLeaving }) => isPinned || isLeaving)).toBe(false);
        const staying = present.filter((each) => !each.isLeaving && !plan.evict.includes(each));
        expect(fits(staying)).toBe(true);
        for (const each of plan.evict) expect(fits([...staying, each])).toBe(false);
      }),
    );
  });
});
