import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runWithProgress, stepsIn } from "../progress.ts";

afterEach(() => vi.restoreAllMocks());

describe("the steps in a build tool's line", () => {
  it.each([
    ["[5/100] Building CXX object a.cpp.o", { done: 5, total: 100 }],
    ["[  7%] Building CXX object a.cpp.o", { done: 7, total: 100 }],
    ["[100%] Built target ingle", { done: 100, total: 100 }],
    ["ninja: no work to do.", undefined],
    ["a.cpp:[5/100] error", undefined],
  ])("%s", (line, steps) => expect(stepsIn(line)).toEqual(steps));
});

describe("a tool run with progress", () => {
  async function run(script: string): Promise<{ succeeded: boolean; errors: string }> {
    const errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const folder = await mkdtemp(path.join(tmpdir(), "ingle-progress-"));
    try {
      const file = path.join(folder, "tool.mjs");
      await writeFile(file, script);
      const succeeded = await runWithProgress("Compiling", process.execPath, [file], folder);
      return { succeeded, errors: errors.mock.calls.flat().join("\n") };
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  it("prints nothing of a tool that succeeds", async () => {
    expect(await run(`console.log("[1/2] a"); console.log("a warning"); console.log("[2/2] b");`)).toEqual({
      succeeded: true,
      errors: "",
    });
  });

  it("prints the output of a tool that fails", async () => {
    const { succeeded, errors } = await run(
      `console.log("[1/2] a"); console.error("a.cpp:3: error: no"); process.exitCode = 1;`,
    );
    expect(succeeded).toBe(false);
    expect(errors).toContain("a.cpp:3: error: no");
  });

  it("rejects when there is no such tool", async () => {
    await expect(runWithProgress("Compiling", "/nowhere/ninja", [], tmpdir())).rejects.toThrow("ENOENT");
  });
});
