import { expect, test } from "vitest";
import { throttleProgress, type LibraryProgress } from "./progress.ts";

function reportsOf(steps: { phase: LibraryProgress["phase"]; bytes: number; atMs: number }[]): string[] {
  const seen: string[] = [];
  let now = 1000;
  const report = throttleProgress(
    ({ phase, bytes }) => seen.push(`${phase} ${bytes}`),
    () => now,
  );
  for (const { phase, bytes, atMs } of steps) {
    now = 1000 + atMs;
    report({ phase, bytes, totalBytes: 9 });
  }
  return seen;
}

test("reports come at most ten times a second", () => {
  const steps = Array.from({ length: 9 }, (_, index) => ({
    phase: "download" as const,
    bytes: index,
    atMs: index * 40,
  }));
  expect(reportsOf(steps)).toEqual(["download 0", "download 3", "download 6"]);
});

test("the first and the last of a phase are never left out, and the last comes once", () => {
  const seen = reportsOf([
    { phase: "download", bytes: 1, atMs: 0 },
    { phase: "download", bytes: 9, atMs: 1 },
    { phase: "download", bytes: 9, atMs: 2 },
    { phase: "unpack", bytes: 1, atMs: 3 },
  ]);
  expect(seen).toEqual(["download 1", "download 9", "unpack 1"]);
});
