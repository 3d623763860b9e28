// Builds and runs the C++ tests that compare with llama.cpp's own code (cmake/llama-tests.cmake).
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const buildDir = fileURLToPath(new URL("../build", import.meta.url));
const program = path.join(
  buildDir,
  "tests",
  process.platform === "win32" ? "ingle_llama_tests.exe" : "ingle_llama_tests",
);
// The addon's build has compiled llama.cpp already; where it has not, that is most of the time.
const buildMsMax = 20 * 60_000;
// A quarter of a minute on two busy cores; a sanitizer takes ten times as long.
const runMsMax = 5 * 60_000;

/** Runs a program to its end; its output is the error when it fails or takes too long. */
function run(command: string, args: readonly string[], timeout: number): string {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", timeout });
  if (status === 0) return stdout;
  throw new Error(`${command} ended with ${status ?? signal ?? String(error)}\n${stdout}\n${stderr}`);
}

test("the C++ tests against llama.cpp's own code pass", { timeout: buildMsMax + runMsMax }, () => {
  if (!existsSync(path.join(buildDir, "CMakeCache.txt"))) {
    throw new Error(
      `The native engine was not built: ${buildDir} holds no CMakeCache.txt. Run \`pnpm build\` first.`,
    );
  }
  // One configuration: generators that have several would otherwise build Debug.
  run("cmake", ["--build", buildDir, "--target", "ingle_llama_tests", "--config", "Release"], buildMsMax);
  const output = run(program, [], runMsMax);
  const cases = /test cases:\s*(\d+)/.exec(output)?.[1];
  expect(Number(cases), output).toBeGreaterThan(0);
});
