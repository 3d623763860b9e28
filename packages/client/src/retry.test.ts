import fc from "fast-check";
import { expect, test } from "vitest";

import { ConnectionError } from "./errors.ts";
import { parseRetryAfter, retryDelayMs, systemClock } from "./retry.ts";

test("reads Retry-After as seconds or as a date, and nothing else", () => {
  const now = Date.parse("2030-01-01T00:00:00Z");
  expect(parseRetryAfter("0", now)).toBe(0);
  expect(parseRetryAfter(" 1.5 ", now)).toBe(1_500);
  expect(parseRetryAfter("Tue, 01 Jan 2030 00:01:00 GMT", now)).toBe(60_000);
  expect(parseRetryAfter("Tue, 01 Jan 2019 00:01:00 GMT", now)).toBe(0);
  for (const nothing of [null, "", "soon", "later please"])
    expect(parseRetryAfter(nothing, now)).toBeUndefined();
});

test("the delay stays within its bounds, whatever the random number", () => {
  fc.assert(
    fc.property(
      fc.nat(50),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (retry, chance) => {
        const wait = retryDelayMs(retry, new ConnectionError("gone"), { random: () => chance });
        const most = Math.min(500 * 2 ** retry, 8_000);
        expect(wait).toBeGreaterThanOrEqual(most / 2);
        expect(wait).toBeLessThanOrEqual(most);
      },
    ),
  );
});

test("the system clock's delay ends early with the signal's reason", async () => {
  await systemClock.delay(1, {});
  const caller = new AbortController();
  const waiting = systemClock.delay(60_000, { signal: caller.signal });
  caller.abort("enough");
  await expect(waiting).rejects.toBe("enough");
  await expect(systemClock.delay(60_000, { signal: caller.signal })).rejects.toBe("enough");
});
