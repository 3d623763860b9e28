import { describe, expect, it } from "vitest";
import { WireError } from "../wire-error.ts";
import { KeyMeter } from "./key-usage.ts";

/** Seconds until it admits a request; 0 if it does now. */
function waitSeconds(meter: KeyMeter, terms: Parameters<KeyMeter["enter"]>[0], now: number): number {
  try {
    meter.enter(terms, now);
  } catch (error) {
    if (error instanceof WireError && error.code === "rate_limited")
      return Number(error.details["retryAfterSeconds"]);
    throw error;
  }
  meter.leave();
  return 0;
}

describe("a key's meter", () => {
  it("admits requests until the tokens of a minute are used, and again when they are a minute ago", () => {
    const meter = new KeyMeter();
    const terms = { tokens_per_minute: 100 };
    expect(waitSeconds(meter, terms, 0)).toBe(0);
    meter.spend("prompt_tokens", 60, 0);
    meter.spend("completion_tokens", 39, 10_000);
    expect(waitSeconds(meter, terms, 20_000)).toBe(0);
    meter.spend("completion_tokens", 30, 20_000);
    expect(meter.minuteLeft(100, 20_000)).toEqual({ tokens: 0, resetMs: 61_000 });
    // The first 60 are gone when their second has been over for a minute.
    expect(waitSeconds(meter, terms, 20_000)).toBe(41);
    expect(waitSeconds(meter, terms, 60_999)).toBe(1);
    expect(waitSeconds(meter, terms, 61_000)).toBe(0);
    expect(meter.minuteLeft(100, 61_000).tokens).toBe(31);
    expect(meter.usage).toEqual({ requests: 3, prompt_tokens: 60, completion_tokens: 69 });
  });

  it("waits for a day's tokens, whatever the minute allows", () => {
    const meter = new KeyMeter();
    const terms = { tokens_per_minute: 1_000, tokens_per_day: 100 };
    meter.spend("prompt_tokens", 100, 0);
    const hour = 3_600;
    expect(waitSeconds(meter, terms, 12 * hour * 1_000)).toBe(12.25 * hour);
    expect(() => meter.enter(terms, 0)).toThrow("has used its 100 tokens a day; try again in 24 hours.");
    expect(() => meter.enter(terms, 23.25 * hour * 1_000)).toThrow("try again in 60 minutes.");
    expect(waitSeconds(meter, terms, 24.25 * hour * 1_000)).toBe(0);
  });

  it("admits so many requests at a time", () => {
    const meter = new KeyMeter();
    const terms = { parallel_requests: 2 };
    meter.enter(terms, 0);
    meter.enter(terms, 0);
    expect(waitSeconds(meter, terms, 0)).toBeGreaterThan(0);
    meter.leave();
    expect(waitSeconds(meter, terms, 0)).toBe(0);
  });

  it("waits exactly as long as a list of all that was used says", () => {
    let seed = 1;
    const random = (end: number) => (seed = (seed * 48_271) % 2_147_483_647) % end;
    const meter = new KeyMeter();
    const spent: { at: number; tokens: number }[] = [];
    // Once a second, so that each has a bucket of its own.
    for (let now = 0; now < 400_000; now += 1_000) {
      const tokens = random(4) === 0 ? 1 + random(200) : 0;
      meter.spend("completion_tokens", tokens, now);
      spent.push({ at: now, tokens });
      const limit = 1 + random(3_000);
      const usedAt = (time: number) =>
        spent.filter(({ at }) => at + 61_000 > time).reduce((sum, each) => sum + each.tokens, 0);
      let wait = 0;
      while (usedAt(now + wait) >= limit) wait += 1_000;
      expect(waitSeconds(meter, { tokens_per_minute: limit }, now)).toBe(wait / 1_000);
    }
  });
});
