import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { compare, formatNumber } from "./comparison.ts";
import { comparisonTable, markdownReport, terminalReport, writeReport, type Run } from "./report.ts";
import { markdownTable, terminalTable } from "./results.ts";
import type { Measure, Round } from "./scenario.ts";
import type { SubjectName } from "./subject.ts";

const speed: Measure = {
  key: "speed",
  title: "speed",
  unit: "tokens/s",
  better: "higher",
  isDrawn: true,
};
const scenario = {
  name: "single",
  meaning: "One user.",
  subjects: ["ingle", "llama-server"] as const,
  measures: [speed],
};

function round(subject: SubjectName, value: number | undefined, number = 1): Round {
  const base = { scenario: "single", case: "one client", round: number, seed: 5, subject, busyShare: 0.01 };
  return value === undefined
    ? { ...base, values: {}, requests: [], error: "A request was refused." }
    : { ...base, values: { speed: value }, requests: [] };
}

const results = [
  round("ingle", 12, 1),
  round("llama-server", 8, 1),
  round("ingle", 10, 2),
  round("llama-server", 10, 2),
  round("ingle", 11, 3),
  round("llama-server", undefined, 3),
];

const run: Run = {
  command: "http",
  startedAt: new Date("2030-01-02T03:04:05Z"),
  machine: { system: "linux", cpu: "A <fast> CPU", cores: 2, memoryGib: 8, node: "v20", commit: "abc" },
  model: { name: "tiny.gguf", bytes: 5_000_000, sha256: "0123" },
  threads: 2,
  seed: 5,
  rounds: 3,
  wasForced: false,
  subjects: { ingle: "ingle serve" },
  scenarios: [scenario],
  results,
};

describe("compare", () => {
  it("takes medians over the rounds that have the figure, and divides Ingle's by the other's", () => {
    const [only] = compare([scenario], results);
    expect(only?.medians).toEqual({ ingle: 11, "llama-server": 9 });
    expect(only?.ratios["llama-server"]).toBeCloseTo(11 / 9);
  });

  it("leaves out a measure that nobody has", () => {
    expect(compare([scenario], [round("ingle", undefined)])).toEqual([]);
  });
});

describe("the tables", () => {
  it("have a column for each peer and its ratio", () => {
    const rows = comparisonTable(compare([scenario], results));
    expect(rows[0]).toEqual(["scenario", "measure", "ingle", "llama-server", "ratio"]);
    expect(rows[1]?.slice(2)).toEqual(["11.0", "9.00", "1.22"]);
  });

  it("have lines of equal columns in the terminal", () => {
    const lines = terminalTable([
      ["a", "b", "1"],
      ["longer", "b", "1000"],
    ]).split("\n");
    expect(lines).toEqual(["a       b     1", "longer  b  1000"]);
  });

  it("keep their cells in markdown", () => {
    const rows = [
      ["scenario", "measure", "ingle"],
      ["a|b", "c", "1"],
    ];
    expect(markdownTable(rows)).toBe("| scenario | measure | ingle |\n|---|---|---:|\n| a\\|b | c | 1 |");
  });
});

describe("the report", () => {
  it("names failed rounds instead of dropping them", () => {
    for (const text of [terminalReport(run), markdownReport(run)])
      expect(text).toContain("single, one client, round 3, llama-server: A request was refused.");
  });

  it("says when it was forced", () => {
    expect(terminalReport(run)).not.toContain("Not for publishing");
    expect(terminalReport({ ...run, wasForced: true })).toContain("Not for publishing");
  });
});

describe("writeReport", () => {
  let folder: string | undefined;
  afterEach(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  it("writes the raw rounds as JSON, a table, and a chart for scenarios with peers", async () => {
    folder = await mkdtemp(path.join(tmpdir(), "ingle-bench-"));
    await writeReport(run, folder);
    expect((await readdir(folder)).toSorted()).toEqual([
      "2030-01-02T03-04-05-http.json",
      "2030-01-02T03-04-05-http.md",
      "single.svg",
    ]);
    const report: Run = JSON.parse(
      await readFile(path.join(folder, "2030-01-02T03-04-05-http.json"), "utf8"),
    );
    expect(report.results).toHaveLength(results.length);
    expect(report.machine.commit).toBe("abc");
    expect(report.seed).toBe(5);
  });

  it("draws nothing when there is nobody to compare with", async () => {
    folder = await mkdtemp(path.join(tmpdir(), "ingle-bench-"));
    await writeReport({ ...run, results: [round("ingle", 12)] }, folder);
    expect((await readdir(folder)).some((name) => name.endsWith(".svg"))).toBe(false);
  });
});

describe("formatNumber", () => {
  it("keeps about three digits", () => {
    expect([1234.5, 99.94, 9.876, 0.123, Number.NaN].map(formatNumber)).toEqual([
      "1235",
      "99.9",
      "9.88",
      "0.12",
      "–",
    ]);
  });
});
