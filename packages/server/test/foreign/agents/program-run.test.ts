import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { endLeftBehind, runProgram } from "./program-run.ts";

const home = await mkdtemp(path.join(tmpdir(), "ingle-program-run-"));
afterAll(() => rm(home, { recursive: true, force: true }));

const node = (
  source: string,
  { timeoutMs = 30_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
) => runProgram(process.execPath, ["-e", source], { cwd: home, env: { HOME: home }, timeoutMs, signal });

// Windows has no process groups.
describe.runIf(process.platform !== "win32")("a program", () => {
  it("that fails is quoted", async () => {
    await expect(node('console.error("no such model"); process.exitCode = 3')).rejects.toThrow(
      /ended with 3:\nno such model/,
    );
  });

  it("that does not end in time is quoted", async () => {
    const run = { cwd: home, env: {}, timeoutMs: 2_000 };
    const running = runProgram("/bin/sh", ["-c", "echo trying again; exec /bin/sleep 60"], run);
    await expect(running).rejects.toThrow(/has not ended within 2 s:\ntrying again/);
  });

  it("that cannot be started is an error", async () => {
    const run = { cwd: home, env: {}, timeoutMs: 1_000 };
    await expect(runProgram(path.join(home, "missing"), [], run)).rejects.toThrow(/ENOENT/);
  });

  it("that is stopped has ended", async () => {
    await expect(
      node("setInterval(() => {}, 1000)", { signal: AbortSignal.timeout(500) }),
    ).resolves.toBeUndefined();
  });
});

it.runIf(process.platform === "linux")("ends what a program left running in its home", async () => {
  const source = `
    const { spawn } = require("node:child_process");
    const left = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
    require("node:fs").writeFileSync("pid", String(left.pid));
    left.unref();
  `;
  await node(source);
  const pid = Number(await readFile(path.join(home, "pid"), "utf8"));
  const isRunning = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  expect(isRunning()).toBe(true);
  await endLeftBehind(home);
  await expect.poll(isRunning, { timeout: 5_000 }).toBe(false);
});
