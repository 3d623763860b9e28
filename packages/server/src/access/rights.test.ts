import { describe, expect, it } from "vitest";
import {
  cookieCounts,
  includes,
  decideRight,
  rights,
  type Asker,
  type CookieSender,
  type Right,
} from "./rights.ts";

const yes = true;
const no = false;

/** Every combination: key, isLocal, isForeignPage, needsKey, and what follows without a cookie. */
const table: [Asker["key"], boolean, boolean, boolean, Right][] = [
  ["none", no, no, no, "inference"],
  ["none", no, yes, no, "inference"],
  ["none", yes, no, no, "management"],
  ["none", yes, yes, no, "inference"],
  ["none", no, no, yes, "none"],
  ["none", no, yes, yes, "none"],
  ["none", yes, no, yes, "none"],
  ["none", yes, yes, yes, "none"],
  ["inference", no, no, no, "inference"],
  ["inference", no, yes, no, "inference"],
  ["inference", yes, no, no, "inference"],
  ["inference", yes, yes, no, "inference"],
  ["inference", no, no, yes, "inference"],
  ["inference", no, yes, yes, "inference"],
  ["inference", yes, no, yes, "inference"],
  ["inference", yes, yes, yes, "inference"],
  ["management", no, no, no, "management"],
  ["management", no, yes, no, "management"],
  ["management", yes, no, no, "management"],
  ["management", yes, yes, no, "management"],
  ["management", no, no, yes, "management"],
  ["management", no, yes, yes, "management"],
  ["management", yes, no, yes, "management"],
  ["management", yes, yes, yes, "management"],
];

/** Every combination: isForeignPage, isFromOwnOrigin, isOwnReading, isCookieHost, and whether a cookie counts. */
const senders: [boolean, boolean, boolean, boolean, boolean][] = [
  [no, no, no, no, no],
  [no, no, no, yes, no],
  [no, no, yes, no, no],
  [no, no, yes, yes, yes],
  [no, yes, no, no, no],
  [no, yes, no, yes, yes],
  [no, yes, yes, no, no],
  [no, yes, yes, yes, yes],
  [yes, no, no, no, no],
  [yes, no, no, yes, no],
  [yes, no, yes, no, no],
  [yes, no, yes, yes, no],
  [yes, yes, no, no, no],
  [yes, yes, no, yes, no],
  [yes, yes, yes, no, no],
  [yes, yes, yes, yes, no],
];
const toSender = ([
  isForeignPage,
  isFromOwnOrigin,
  isOwnReading,
  isCookieHost,
]: (typeof senders)[number]): CookieSender => ({
  isForeignPage,
  isFromOwnOrigin,
  isOwnReading,
  isCookieHost,
});

describe("without a cookie", () => {
  it.each(table)(
    "key %s, local %s, foreign page %s, keys configured %s: %s",
    (key, isLocal, isForeignPage, needsKey, right) => {
      for (const row of senders) {
        const asker = { ...toSender(row), key, isLocal, isForeignPage, needsKey, cookie: "none" } as const;
        expect(decideRight(asker)).toBe(right);
      }
    },
  );

  it("is decided by the table for every combination", () => {
    const combinations = new Set(table.map((row) => row.slice(0, 4).join()));
    expect([combinations.size, table.length]).toEqual([3 * 2 ** 3, 3 * 2 ** 3]);
  });
});

describe("a cookie", () => {
  it.each(senders)(
    "by a foreign page %s, from the own origin %s, own reading %s, by a right name %s: counts %s",
    (...row) => {
      expect(cookieCounts(toSender(row))).toBe(row[4]);
    },
  );

  it("is decided by the table for every combination", () => {
    const combinations = new Set(senders.map((row) => row.slice(0, 4).join()));
    expect([combinations.size, senders.length]).toEqual([2 ** 4, 2 ** 4]);
  });

  it("is worth what its key is where it counts, and nothing elsewhere; the better of it and a key holds", () => {
    for (const [key, isLocal, , needsKey] of table) {
      for (const row of senders) {
        const sender = toSender(row);
        const asker = { ...sender, key, isLocal, needsKey };
        for (const cookie of ["inference", "management"] as const) {
          const right = decideRight({ ...asker, cookie });
          const better = key === "management" || cookie === "management" ? "management" : "inference";
          expect(right).toBe(row[4] ? better : decideRight({ ...asker, cookie: "none" }));
        }
      }
    }
  });
});

it("a right includes those before it", () => {
  const pairs = rights.map((right) => rights.filter((needed) => includes(right, needed)));
  expect(pairs).toEqual([["none"], ["none", "inference"], ["none", "inference", "management"]]);
});
