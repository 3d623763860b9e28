import { expect, test } from "vitest";
import { throttleProgress, type LibraryProgress } from "./progress.ts";

function collectReports(steps: { phase: LibraryProgress["phase"]; bytes: number; atMs: number }[]): string[] {
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

test("progress is reported at most ten times a second", () => {
  const steps = Array.from({ length: 9 }, (_, index) => ({
    phase: "download" as const,
    bytes: index,
    atMs: index * 40,
  }));
  expect(collectReports(steps)).toEqual(["download 0", "download 3", "download 6"]);
});

test("the first and the last report of a phase are never omitted, and the last is sent once", () => {
  const seen = collectReports([
    { phase: "download", bytes: 1, atMs: 0 },
    { phase: "download", bytes: 9, atMs: 1 },
    { phase: "download", bytes: 9, atMs: 2 },
    { phase: "unpack", bytes: 1, atMs: 3 },
  ]);
  expect(seen).toEqual(["download 1", "download 9", "unpack 1"]);
});
