import { describe, expect, it } from "vitest";

import { createFrameBatch, type FrameClock } from "./frame-batch.ts";

/** A manual clock; a render takes `drawMs`. */
function createClock(drawMs: number) {
  let now = 0;
  let frames: (() => void)[] = [];
  let after: (() => void)[] = [];
  const clock: FrameClock = {
    now: () => now,
    nextFrame: (run) => frames.push(run),
    afterFrame: (run) => after.push(run),
  };
  const frame = () => {
    now += 16;
    for (const run of frames.splice(0)) run();
    if (after.length > 0) now += drawMs;
    for (const run of after.splice(0)) run();
  };
  return { clock, frame };
}

/** A batch that counts its renders. */
function createCounter(drawMs: number) {
  const { clock, frame } = createClock(drawMs);
  let count = 0;
  const batch = createFrameBatch(() => {
    count += 1;
    return false;
  }, clock);
  return { batch, frame, count: () => count };
}

function draws(drawMs: number, frames: number): number {
  const { batch, frame, count } = createCounter(drawMs);
  for (let at = 0; at < frames; at += 1) {
    batch.request();
    batch.request();
    frame();
  }
  return count();
}

describe("createFrameBatch", () => {
  it("renders once per frame, however much arrives", () => {
    expect(draws(0, 10)).toBe(10);
    expect(draws(4, 10)).toBe(10);
  });

  it("renders less often if rendering is slow", () => {
    expect(draws(40, 30)).toBeLessThanOrEqual(10);
    expect(draws(40, 30)).toBeGreaterThanOrEqual(4);
  });

  it("does nothing in a frame without a request", () => {
    const { batch, frame, count } = createCounter(0);
    batch.request();
    frame();
    frame();
    expect(count()).toBe(1);
  });

  it("applies what is left when it is finished, and nothing afterwards", () => {
    const { batch, frame, count } = createCounter(0);
    batch.request();
    batch.finish();
    frame();
    batch.request();
    frame();
    expect(count()).toBe(1);
  });

  it("continues with what a frame has left, and is settled when nothing is left", async () => {
    const { clock, frame } = createClock(0);
    let left = 3;
    const batch = createFrameBatch(() => {
      left -= 1;
      return left > 0;
    }, clock);
    await batch.settled();
    batch.request();
    let isSettled = false;
    const settled = batch.settled().then(() => (isSettled = true));
    frame();
    frame();
    await Promise.resolve();
    expect([left, isSettled]).toEqual([1, false]);
    frame();
    await settled;
    expect(left).toBe(0);
  });
});
