import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Admission, type Permit } from "./admission.ts";

describe("Admission", () => {
  it("refuses the one that is too many as overloaded, with a time to try again", () => {
    const admission = new Admission(1);
    using permit = admission.enter();
    expect(permit).toBeDefined();
    expect(() => admission.enter()).toThrow(
      expect.objectContaining({ code: "overloaded", details: { retryAfterSeconds: expect.any(Number) } }),
    );
  });

  it("gives a place back once, however often the permit is disposed", () => {
    const admission = new Admission(2);
    const first = admission.enter();
    admission.enter();
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect(admission.taken).toBe(1);
  });

  it("leaves half of the places to those who are not in the background, unless a single one needs more", () => {
    const admission = new Admission(4);
    const enter = (places = 1): Permit => admission.enter({ isBackground: true, places });
    const large = enter(3);
    expect(() => enter()).toThrow(expect.objectContaining({ code: "overloaded" }));
    large[Symbol.dispose]();
    enter();
    enter();
    expect(() => enter()).toThrow(expect.objectContaining({ code: "overloaded" }));
    admission.enter({ places: 2 });
    expect(() => admission.enter()).toThrow(expect.objectContaining({ code: "overloaded" }));
  });

  it("takes no place for a request whose client is gone", () => {
    const admission = new Admission(1);
    const gone = new Error("gone");
    expect(() => admission.enter({ signal: AbortSignal.abort(gone) })).toThrow(gone);
    expect(admission.taken).toBe(0);
  });

  it("never holds more than its places, and as many as are not given back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5 }), fc.array(fc.nat({ max: 9 })), (placesMax, steps) => {
        const admission = new Admission(placesMax);
        const held: Permit[] = [];
        for (const step of steps) {
          if (step < 6) {
            try {
              held.push(admission.enter());
            } catch {
              expect(held.length).toBe(placesMax);
            }
          } else held.splice(step % Math.max(1, held.length), 1)[0]?.[Symbol.dispose]();
          expect(admission.taken).toBe(held.length);
        }
      }),
    );
  });
});
