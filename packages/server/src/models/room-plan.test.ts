import { fitsInto } from "@ingle/engine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planRoom, type Occupant } from "./room-plan.ts";

const occupant = (name: string, host: number, rest: Partial<Occupant> = {}) => ({
  name,
  byMemory: { host },
  isPinned: false,
  isLeaving: false,
  leases: 0,
  usedAt: 0,
  ...rest,
});
const budget = { byMemory: { host: 10 } };
const need = (host: number) => ({ host });
const namesOf = (plan: ReturnType<typeof planRoom<ReturnType<typeof occupant>>>) =>
  plan.kind === "waits" ? plan.evict.map(({ name }) => name) : plan.kind;

describe("room for one more model", () => {
  it("is there while memory and number allow it", () => {
    const present = [occupant("a", 4)];
    expect(namesOf(planRoom(need(6), present, { budget }))).toBe("fits");
    expect(namesOf(planRoom(need(6), present, { budget, loadedMax: 2 }))).toBe("fits");
    expect(namesOf(planRoom(need(99), present, {}))).toBe("fits");
  });

  it("is made by the one that was used longest ago, and no more than needed", () => {
    const present = [occupant("new", 4, { usedAt: 3 }), occupant("old", 4, { usedAt: 1 })];
    expect(namesOf(planRoom(need(5), present, { budget }))).toEqual(["old"]);
    expect(namesOf(planRoom(need(1), present, { budget, loadedMax: 2 }))).toEqual(["old"]);
  });

  it("is made by models that nobody uses before those that somebody does", () => {
    const present = [occupant("busy", 4, { usedAt: 1, leases: 1 }), occupant("free", 4, { usedAt: 2 })];
    expect(namesOf(planRoom(need(5), present, { budget }))).toEqual(["free"]);
    expect(namesOf(planRoom(need(9), present, { budget }))).toEqual(["free", "busy"]);
  });

  it("spares the small when the large one had to leave anyway", () => {
    const present = [occupant("small", 1, { usedAt: 1 }), occupant("large", 8, { usedAt: 2 })];
    expect(namesOf(planRoom(need(9), present, { budget }))).toEqual(["large"]);
  });

  it("is waited for where those that leave already make it", () => {
    const present = [occupant("leaving", 8, { isLeaving: true }), occupant("a", 2)];
    expect(namesOf(planRoom(need(8), present, { budget }))).toEqual([]);
  });

  it("is never there when the model is too large, or pinned ones are in the way", () => {
    expect(namesOf(planRoom(need(11), [], { budget }))).toBe("never");
    expect(namesOf(planRoom(need(5), [occupant("a", 6, { isPinned: true })], { budget }))).toBe("never");
  });

  it("counts each memory by itself, and all of them together where there is such a bound", () => {
    const gpu = occupant("a", 1, { byMemory: { host: 1, gpu: 6 } });
    const both = { byMemory: { host: 10, gpu: 8 } };
    expect(namesOf(planRoom({ host: 1, gpu: 1 }, [gpu], { budget: both }))).toBe("fits");
    expect(namesOf(planRoom({ host: 1, gpu: 3 }, [gpu], { budget: both }))).toEqual(["a"]);
    expect(namesOf(planRoom(need(1), [gpu], { budget: { ...both, totalBytes: 7 } }))).toEqual(["a"]);
  });

  it("never asks a pinned one, nor one more than it takes, and then there is enough", () => {
    const occupants = fc.array(
      fc.record({
        name: fc.uuid(),
        byMemory: fc.record({ host: fc.nat(9) }),
        isPinned: fc.boolean(),
        isLeaving: fc.boolean(),
        leases: fc.nat(2),
        usedAt: fc.nat(9),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(occupants, fc.nat(12), fc.integer({ min: 1, max: 6 }), (present, host, loadedMax) => {
        const limits = { budget, loadedMax };
        const plan = planRoom(need(host), present, limits);
        const hasRoom = (beside: readonly Occupant[]): boolean =>
          beside.length < loadedMax &&
          fitsInto(
            { host: beside.reduce((sum, { byMemory }) => sum + (byMemory["host"] ?? 0), host) },
            budget,
          );
        const pinned = present.filter(({ isPinned, isLeaving }) => isPinned && !isLeaving);
        expect(hasRoom(present)).toBe(plan.kind === "fits");
        if (plan.kind === "never") expect(hasRoom(pinned)).toBe(false);
        if (plan.kind !== "waits") return;
        expect(plan.evict.some(({ isPinned, isLeaving }) => isPinned || isLeaving)).toBe(false);
        const staying = present.filter((each) => !each.isLeaving && !plan.evict.includes(each));
        expect(hasRoom(staying)).toBe(true);
        for (const each of plan.evict) expect(hasRoom([...staying, each])).toBe(false);
      }),
    );
  });
});
