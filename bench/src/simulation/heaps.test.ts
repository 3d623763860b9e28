import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventHeap } from "./event-heap.ts";
import { TimeLine } from "./time-line.ts";

const size = 12;
const time = fc.oneof(fc.integer({ min: 0, max: 50 }), fc.constant(Infinity));

describe("an event heap", () => {
  it("always has the earliest of all times on top, however they change", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(size - 1), time)), (changes) => {
        const heap = new EventHeap(size);
        const times = new Map<number, number>();
        for (const [who, at] of changes) {
          heap.set(who, at);
          times.set(who, at);
          const earliest = Math.min(Infinity, ...times.values());
          expect(heap.time).toBe(earliest);
          if (earliest === Infinity) expect(heap.next).toBe(-1);
          else expect(times.get(heap.next)).toBe(earliest);
        }
      }),
    );
  });
});

describe("a time line", () => {
  it("gives what was added by ascending time", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100)), (times) => {
        const line = new TimeLine<number>();
        for (const at of times) line.add(at, at);
        const taken: (number | undefined)[] = [];
        while (line.length > 0) {
          expect(line.time).toBe(Math.min(...times.toSorted((a, b) => a - b).slice(taken.length)));
          taken.push(line.take());
        }
        expect(taken).toEqual(times.toSorted((a, b) => a - b));
        expect(line.take()).toBeUndefined();
        expect(line.time).toBe(Infinity);
      }),
    );
  });
});
