import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { KeyMeters } from "./key-usage.ts";
import { keepUsage } from "./kept-usage.ts";

const hourMs = 3_600_000;
const terms = { tokens_per_day: 100 };
let file: string;
beforeEach(async () => {
  file = path.join(await mkdtemp(path.join(tmpdir(), "ingle-usage-")), "usage.json");
});
afterEach(() => rm(path.dirname(file), { recursive: true }));

/** A server's life, which begins at this time of day; its own clock begins at any number. */
async function live(unixMs: number, clockMs: number, work: (meters: KeyMeters, clockMs: number) => void) {
  const meters = new KeyMeters();
  const problems: string[] = [];
  const options = {
    onProblem: (text: string) => problems.push(text),
    clock: () => clockMs,
    now: () => unixMs,
  };
  await using _kept = await keepUsage(file, meters, options);
  work(meters, clockMs);
  return problems;
}

it("is there after a restart, as long as it is of the last day", async () => {
  await live(1e12, 5, (meters, now) => meters.of("reports").spend("prompt_tokens", 100, now));
  const isRefused = async (hours: number) => {
    let refused = false;
    await live(1e12 + hours * hourMs, 777, (meters, now) => {
      try {
        meters.of("reports").enter(terms, now);
      } catch {
        refused = true;
      }
      expect(() => meters.of("editor").enter(terms, now)).not.toThrow();
    });
    return refused;
  };
  expect([await isRefused(1), await isRefused(23), await isRefused(24.3)]).toEqual([true, true, false]);
});

it("begins anew with a sentence where the file is damaged or cannot be written", async () => {
  await writeFile(file, "{");
  expect(await live(1e12, 0, (meters) => meters.of("a").spend("prompt_tokens", 5, 0))).toEqual([
    expect.stringContaining("cannot be used"),
  ]);
  await rm(path.dirname(file), { recursive: true });
  await writeFile(path.dirname(file), "a file where the folder was");
  const problems = await live(1e12, 0, (meters) => meters.of("a").spend("prompt_tokens", 5, 0));
  expect(problems.at(-1)).toContain("cannot be written");
});
