import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { drawQuality, markdownQuality, qualityTable, writeQuality, type QualityRun } from "./table.ts";

const run: QualityRun = {
  command: "kv",
  title: "Kinds of KV cache",
  meaning: "What fewer bits save.",
  startedAt: new Date("2030-01-02T03:04:05Z"),
  machine: { system: "linux", cpu: "A <fast> CPU", cores: 2, memoryGib: 8, node: "v20", commit: "abc" },
  model: { name: "tiny.gguf", bytes: 5_000_000, sha256: "0123" },
  threads: 2,
  seed: 5,
  wasForced: false,
  conditions: ["on a book"],
  columns: [
    { key: "kld", title: "divergence", unit: "", better: "lower", digits: 5, isDrawn: true },
    { key: "speed", title: "speed", unit: "tokens/s", better: "higher", digits: 1 },
    { key: "found", title: "needles", unit: "", better: "higher", digits: 0 },
  ],
  rows: [
    { name: "f16", note: "16 bits", isOurs: true, values: { kld: 0, speed: 20 } },
    { name: "q4_0", note: "4 bits", isOurs: false, values: { kld: 0.0334 } },
    { name: "q3_kv", note: "3 bits", isOurs: true, values: {}, error: "Heads of 48." },
  ],
};

describe("the report of kinds and levels", () => {
  it("keeps a divergence of 0, marks what is missing, and leaves out what nobody has", () => {
    expect(qualityTable(run)).toEqual([
      ["", "", "divergence", "speed, tokens/s"],
      ["f16", "16 bits", "0.00000", "20.0"],
      ["q4_0", "4 bits", "0.03340", "–"],
      ["q3_kv", "3 bits", "–", "–"],
    ]);
  });

  it("says why a row is empty, and that a run was forced", () => {
    expect(markdownQuality(run)).toContain("- q3_kv was not measured: Heads of 48.");
    expect(markdownQuality(run)).not.toContain("Forced");
    expect(markdownQuality({ ...run, wasForced: true })).toContain("Forced");
  });

  it("draws the rows that have a figure, with its digits and without markup of others", () => {
    const picture = drawQuality(run);
    expect(picture).toContain(">0.03340<");
    expect(picture).toContain("A &lt;fast&gt; CPU");
    expect(picture).not.toContain("q3_kv");
  });

  it("writes JSON, markdown and a chart named after the model", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "ingle-quality-"));
    try {
      const files = await writeQuality(run, folder);
      const names = ["2030-01-02T03-04-05-kv.json", "2030-01-02T03-04-05-kv.md", "kv-tiny.svg"];
      expect((await readdir(folder)).toSorted()).toEqual(names);
      const [json = ""] = files;
      expect(JSON.parse(await readFile(json, "utf8"))).toMatchObject({ command: "kv", rows: run.rows });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
