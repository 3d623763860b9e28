import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asRegExp } from "../../../test/harness/as-regexp.ts";
import { integersWithin, numbersWithin, type Bound, type Bounds } from "./number-range.ts";

function matcher(expression: string | undefined): (text: string) => boolean {
  const regexp = expression === undefined ? undefined : asRegExp(`root ::= ${expression}`);
  return (text) => regexp?.test(text) ?? false;
}

function isWithin(value: number, { min, max }: Bounds): boolean {
  const isAbove = min === undefined || (min.isOpen ? value > min.value : value >= min.value);
  const isBelow = max === undefined || (max.isOpen ? value < max.value : value <= max.value);
  return isAbove && isBelow;
}

const bound = (value: fc.Arbitrary<number>): fc.Arbitrary<Bound | undefined> =>
  fc.option(fc.record({ value, isOpen: fc.boolean() }), { nil: undefined });
const whole = fc.oneof(fc.integer({ min: -30, max: 30 }), fc.integer({ min: -2_000_000, max: 2_000_000 }));
const tenths = whole.map((value) => value / 10);

describe("integers within bounds", () => {
  it("are exactly those within", () => {
    const bounds = fc.record({ min: bound(fc.oneof(whole, tenths)), max: bound(fc.oneof(whole, tenths)) });
    fc.assert(
      fc.property(bounds, fc.array(whole, { minLength: 20, maxLength: 20 }), ({ min, max }, others) => {
        const matches = matcher(integersWithin({ min, max }));
        const near = [min, max].flatMap((each) =>
          each === undefined ? [] : [-1, 0, 1].map((d) => Math.round(each.value) + d),
        );
        for (const value of [...others, ...near])
          expect([value, matches(String(value))]).toEqual([value, isWithin(value, { min, max })]);
      }),
    );
  });

  it("have no leading zeros", () => {
    const matches = matcher(
      integersWithin({ min: { value: 0, isOpen: false }, max: { value: 500, isOpen: false } }),
    );
    for (const text of ["00", "01", "007", "", "+5", "5.0"]) expect(matches(text)).toBe(false);
  });

  it("are undefined if there are none", () => {
    expect(
      integersWithin({ min: { value: 5, isOpen: false }, max: { value: 4, isOpen: false } }),
    ).toBeUndefined();
    expect(
      integersWithin({ min: { value: 4, isOpen: true }, max: { value: 5, isOpen: true } }),
    ).toBeUndefined();
  });
});

describe("numbers within bounds", () => {
  it("are exactly those within, with and without a fraction", () => {
    const bounds = fc.record({ min: bound(tenths), max: bound(tenths) });
    fc.assert(
      fc.property(bounds, fc.array(tenths, { minLength: 20, maxLength: 20 }), ({ min, max }, others) => {
        const matches = matcher(numbersWithin({ min, max }));
        const near = [min, max].flatMap((each) =>
          each === undefined
            ? []
            : [-1, -0.1, -0.01, 0, 0.01, 0.1, 1].map((d) => Number((each.value + d).toFixed(2))),
        );
        for (const value of [...others, ...near]) {
          expect([value, matches(String(value))]).toEqual([value, isWithin(value, { min, max })]);
          if (Number.isInteger(value)) expect(matches(value.toFixed(1))).toBe(isWithin(value, { min, max }));
        }
      }),
    );
  });

  it("between 0 and 1 may have many digits", () => {
    const matches = matcher(
      numbersWithin({ min: { value: 0, isOpen: true }, max: { value: 1, isOpen: true } }),
    );
    for (const text of ["0.5", "0.000001", "0.999999"]) expect(matches(text)).toBe(true);
    for (const text of ["0", "0.0", "1", "1.0", "-0.5", "0.5e1"]) expect(matches(text)).toBe(false);
  });
});
