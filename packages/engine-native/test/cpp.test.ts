// Builds and runs the C++ unit tests of this package (cmake/tests.cmake), so that one command runs all tests.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const buildDir = fileURLToPath(new URL("../build", import.meta.url));
const program = path.join(
  buildDir,
  "tests",
  process.platform === "win32" ? "ingle_tests.exe" : "ingle_tests",
);
// A first build compiles a dozen small files; a slow machine with a sanitizer stays well below.
const buildMsMax = 5 * 60_000;
const runMsMax = 60_000;

/** Runs a program to its end; its output is the error when it fails or takes too long. */
function run(command: string, args: readonly string[], timeout: number): string {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", timeout });
  if (status === 0) return stdout;
  throw new Error(`${command} ended with ${status ?? signal ?? String(error)}\n${stdout}\n${stderr}`);
}

test("the C++ unit tests pass", { timeout: buildMsMax + runMsMax }, () => {
  if (!existsSync(path.join(buildDir, "CMakeCache.txt"))) {
    throw new Error(
      `The native engine was not built: ${buildDir} holds no CMakeCache.txt. Run \`pnpm build\` first.`,
    );
  }
  // One configuration: generators that have several would otherwise build Debug.
  run("cmake", ["--build", buildDir, "--target", "ingle_tests", "--config", "Release"], buildMsMax);
  const output = run(program, [], runMsMax);
  const cases = /test cases:\s*(\d+)/.exec(output)?.[1];
  expect(Number(cases), output).toBeGreaterThan(0);
});
