// `ingle launch` as a process with real signals, from the build in dist/.
import { spawn } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { programDesk } from "../../../test/launched-program.ts";

const scripted = fileURLToPath(new URL("../../../test/scripted-ingle.js", import.meta.url));

/** The command with a server of its own; the program waits for signals. */
async function launched(end: string) {
  const desk = await programDesk("claude");
  const temporary = path.join(desk.home, "..", "tmp");
  await mkdir(temporary);
  const child = spawn(process.execPath, [scripted, "launch", "claude"], {
    env: {
      HOME: desk.home,
      PATH: desk.bin + path.delimiter + process.env["PATH"],
      TMPDIR: temporary,
      REPORT: desk.reportFile,
      PROGRAM: end,
      SCRIPT: JSON.stringify({ contextLength: 65_536 }),
    },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exit = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
  await desk.report();
  const close = async (): Promise<void> => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // all of them have ended
    }
    await desk[Symbol.asyncDispose]();
  };
  return { desk, child, exit, temporary, [Symbol.asyncDispose]: close };
}

describe.runIf(process.platform !== "win32")("ingle launch", () => {
  it("leaves Ctrl-C, which both processes get, to the program, and then removes its folder", async () => {
    await using run = await launched("wait");
    expect(await readdir(run.temporary)).toEqual([expect.stringMatching(/^ingle-launch-/)]);
    process.kill(-(run.child.pid ?? 0), "SIGINT");
    expect(await run.exit).toBe(5);
    expect((await run.desk.report()).signals).toContain("SIGINT");
    expect(await readdir(run.temporary)).toEqual([]);
    expect(await readdir(run.desk.home)).toEqual([]);
  });

  it("passes a signal on that only it gets, and ends like the program", async () => {
    await using run = await launched("die");
    run.child.kill("SIGTERM");
    expect(await run.exit).toBe(143);
    expect(await readdir(run.temporary)).toEqual([]);
  });
});
