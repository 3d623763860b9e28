import { expect, it } from "vitest";
import { TransferRate } from "./transfer-rate.ts";

it("is of the last seconds, not of all the time", () => {
  const rate = new TransferRate();
  for (let second = 0; second <= 20; second += 1)
    rate.note(second < 10 ? 0 : (second - 10) * 100, second * 1000);
  expect(rate.perSecond(1000, 20_000)).toBeCloseTo(100);
});

it("falls to nothing when nothing comes any more", () => {
  const rate = new TransferRate();
  rate.note(0, 0);
  rate.note(1000, 1000);
  expect(rate.perSecond(1000, 1000)).toBe(1000);
  expect(rate.perSecond(1000, 4000)).toBe(250);
  expect(rate.perSecond(1000, 60_000)).toBeLessThan(20);
});

it("says nothing too early, and after a new beginning", () => {
  const rate = new TransferRate();
  expect(rate.perSecond(0, 0)).toBeNull();
  rate.note(0, 0);
  expect(rate.perSecond(50, 100)).toBeNull();
  expect(rate.perSecond(50, 1000)).toBe(50);
  rate.reset();
  expect(rate.perSecond(50, 1000)).toBeNull();
});

it("keeps no more than it needs, however often bytes come", () => {
  const rate = new TransferRate();
  for (let ms = 0; ms < 100_000; ms += 1) rate.note(ms, ms);
  expect(rate.perSecond(100_000, 100_000)).toBeCloseTo(1000, -1);
});
