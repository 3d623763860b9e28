import { describe, expect, it } from "vitest";
import { hashKey } from "../api-key.ts";
import { makeKey, type KeyWish } from "./key-file.ts";
import { KeyCheck, KeyRing, WrongKeys } from "./keys.ts";

function makeWrongKeys(max: number) {
  const clock = { ms: 0 };
  return { clock, keys: new WrongKeys(max, () => clock.ms) };
}

it("looks at so many wrong keys a minute of one client, and says how long to wait for the next", () => {
  const { clock, keys } = makeWrongKeys(2);
  keys.noteWrong("a");
  expect(keys.waitSeconds("a", "x")).toBe(0);
  clock.ms = 20_500;
  keys.noteWrong("a");
  expect([keys.waitSeconds("a", "x"), keys.waitSeconds("b", "x")]).toEqual([40, 0]);
  clock.ms = 60_000;
  expect(keys.waitSeconds("a", "x")).toBe(0);
  keys.noteWrong("a");
  expect(keys.waitSeconds("a", "x")).toBe(0);
});

it("looks at a key that was right from the same client before, and from no other one", () => {
  const { keys } = makeWrongKeys(1);
  keys.noteRight("a", "right");
  keys.noteWrong("a");
  keys.noteWrong("b");
  expect([keys.waitSeconds("a", "right"), keys.waitSeconds("a", "x")]).toEqual([0, 60]);
  expect(keys.waitSeconds("b", "right")).toBe(60);
});

it("remembers so many clients and right keys, and forgets the oldest", () => {
  const { keys } = makeWrongKeys(1);
  for (let index = 0; index <= 10_000; index += 1) {
    keys.noteWrong(`${index}`);
    keys.noteRight("1", `${index}`);
  }
  expect(["0", "1", "10000"].map((client) => keys.waitSeconds(client, "x"))).toEqual([0, 60, 60]);
  expect(["0", "1"].map((key) => keys.waitSeconds("1", key))).toEqual([60, 0]);
});

describe("keys with names", () => {
  async function openRing(wish: Partial<KeyWish> = {}) {
    const { key, entry } = await makeKey({ name: "reports", scope: "inference", ...wish });
    const ring = new KeyRing();
    ring.needKey();
    ring.replaceEntries("--keys", [entry]);
    const clock = { ms: Date.parse("2027-01-01T00:00:00Z") };
    const wrongKeys = new WrongKeys(2, () => 0);
    return { key, entry, ring, clock, check: new KeyCheck(ring, wrongKeys, () => clock.ms) };
  }

  it("are found with their terms, until they are removed", async () => {
    const { key, ring, check, entry } = await openRing({ models: ["a*"], priority: "low" });
    const terms = { models: ["a*"], priority: "low" };
    const found = { digest: hashKey(key), scope: "inference", name: "reports", terms };
    const many = await Promise.all(Array.from({ length: 8 }, async () => await check.find([key], "a")));
    expect(many).toEqual(many.map(() => found));
    ring.replaceEntries("--keys", [{ ...entry, priority: "high" }]);
    expect(check.known([hashKey(key)])?.terms.priority).toBe("high");
    ring.replaceEntries("--keys", []);
    expect(check.known([hashKey(key)])).toBeUndefined();
    expect(await check.find([key], "a")).toBeUndefined();
  });

  it("are wrong with another secret, and too many of these are not compared", async () => {
    const { key, check } = await openRing();
    const wrong = key.slice(0, -6) + "wrong_";
    const many = await Promise.all(Array.from({ length: 5 }, async () => await check.find([wrong], "a")));
    const held = { waitSeconds: 60 };
    expect(many).toEqual([undefined, undefined, held, held, held]);
    expect(await check.find([key], "a")).toEqual({ waitSeconds: 60 });
    expect(await check.find([key], "b")).toMatchObject({ name: "reports" });
  });

  it("are refused from the time on when they expire, which is not a wrong key", async () => {
    const expires_at = "2027-01-01T02:00:00+01:00";
    const { key, check, clock } = await openRing({ expires_at });
    expect(await check.find([key], "a")).toMatchObject({ name: "reports" });
    clock.ms = Date.parse("2027-01-01T01:00:00Z");
    for (let time = 0; time < 3; time += 1)
      expect(await check.find([key], "a")).toEqual({ expiredAt: expires_at });
    expect(check.known([hashKey(key)])).toBeUndefined();
  });
});
