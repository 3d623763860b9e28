import { expect, it } from "vitest";
import { WrongKeys } from "./keys.ts";

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
