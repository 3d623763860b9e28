import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Heartbeat } from "./heartbeat.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const minute = 60_000;

function watched(boundMs: number): { heartbeat: Heartbeat; hung: () => number } {
  const onHung = vi.fn();
  return { heartbeat: new Heartbeat(boundMs, onHung), hung: () => onHung.mock.calls.length };
}

it("notices that the engine makes no step, although the process reports", () => {
  const { heartbeat, hung } = watched(10 * minute);
  heartbeat.watch({ isBusy: true, hasRequests: true });
  for (let seconds = 0; seconds < 600; seconds += 1) {
    heartbeat.heard();
    vi.advanceTimersByTime(1_000);
  }
  expect(hung()).toBe(0);
  vi.advanceTimersByTime(2_000);
  expect(hung()).toBeGreaterThan(0);
});

it("notices a process that reports nothing within a minute", () => {
  const { heartbeat, hung } = watched(10 * minute);
  heartbeat.watch({ isBusy: true, hasRequests: false });
  vi.advanceTimersByTime(minute);
  expect(hung()).toBe(0);
  vi.advanceTimersByTime(2_000);
  expect(hung()).toBeGreaterThan(0);
});

it("expects steps only while there are requests, and nothing from an idle process", () => {
  const { heartbeat, hung } = watched(minute);
  heartbeat.watch({ isBusy: true, hasRequests: true });
  for (let seconds = 0; seconds < 600; seconds += 1) {
    heartbeat.watch({ isBusy: true, hasRequests: seconds % 50 === 0 });
    heartbeat.heard();
    vi.advanceTimersByTime(1_000);
  }
  heartbeat.watch({ isBusy: false, hasRequests: false });
  vi.advanceTimersByTime(60 * minute);
  expect(hung()).toBe(0);
});
