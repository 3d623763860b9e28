import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitsInto, remainingBudget, nativeLimits } from "./memory.ts";
import { addMemory, toMemoryBytes, type MemoryBytes } from "../base/memory-bytes.ts";

const bytes = fc.dictionary(fc.constantFrom("host", "gpu", "other"), fc.nat(20));

describe("what is left of a budget", () => {
  it("takes just what the budget takes beside the rest", () => {
    const budgets = fc.record({ byMemory: bytes, totalBytes: fc.option(fc.nat(40), { nil: undefined }) });
    fc.assert(
      fc.property(budgets, bytes, bytes, (budget, used, more) => {
        fc.pre(fitsInto(used, budget));
        const isWithin = fitsInto(addMemory(used, more), budget);
        expect(fitsInto(more, remainingBudget(budget, used))).toBe(isWithin);
      }),
    );
  });

  it("is nothing where more is used than the budget allows", () => {
    const budget = { byMemory: { host: 10, gpu: 5 }, totalBytes: 12 };
    expect(remainingBudget(budget, { host: 11, gpu: 2 })).toEqual({
      byMemory: { host: 0, gpu: 3 },
      totalBytes: 0,
    });
  });
});

describe("the addon's names of memories", () => {
  it("are the same but for the machine's own", () => {
    const used: MemoryBytes = { host: 3, CUDA0: 4 };
    const { memories, totalBytes } = nativeLimits({ byMemory: used, totalBytes: 7.5 });
    expect(memories).toContainEqual({ device: "", bytes: 3 });
    expect(toMemoryBytes(memories)).toEqual(used);
    expect(totalBytes).toBe(7);
  });

  it("limit nothing without a budget", () => {
    expect(nativeLimits()).toEqual({ memories: [], totalBytes: Number.MAX_SAFE_INTEGER });
    expect(nativeLimits({ byMemory: { gpu: Infinity } }).memories).toEqual([
      { device: "gpu", bytes: Number.MAX_SAFE_INTEGER },
    ]);
  });
});
