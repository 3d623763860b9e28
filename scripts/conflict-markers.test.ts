import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

import { conflictProblems } from "./conflict-markers.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-conflict-"));
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
});
afterEach(() => rm(folder, { recursive: true }));

const conflict = (sign: string): string =>
  ["ours", `${"<".repeat(7)} HEAD`, "a", "=".repeat(7), "b", `${">".repeat(7)} 1234567 (A change)`]
    .map((line) => `${sign}${line}\n`)
    .join("");

it.each([
  ["load.ts", ""],
  ["page.md", ""],
  ["0001-change.patch", "+"],
])("finds each marker in %s, before git tracks the file", async (name, sign) => {
  await writeFile(path.join(folder, name), conflict(sign));
  expect(await conflictProblems(folder)).toEqual([
    `${name}:2:${sign}${"<".repeat(7)} HEAD`,
    `${name}:4:${sign}${"=".repeat(7)}`,
    `${name}:6:${sign}${">".repeat(7)} 1234567 (A change)`,
  ]);
});

it("accepts rules, arrows and operators", async () => {
  const text = `Title\n${"=".repeat(8)}\n\nx <<<<<<< y\n${"-".repeat(7)}\n${">".repeat(8)}\n`;
  await writeFile(path.join(folder, "page.md"), text);
  expect(await conflictProblems(folder)).toEqual([]);
});

it("rejects where git cannot search", async () => {
  await rm(path.join(folder, ".git"), { recursive: true });
  await expect(conflictProblems(path.join(folder, "missing"))).rejects.toThrow();
});
