import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { BenchError } from "./bench-error.ts";
import { runProgram, startProgram } from "./child-process.ts";

const limitMs = 20_000;

describe("runProgram", () => {
  it("returns what the program wrote", async () => {
    expect(await runProgram(process.execPath, ["-p", "6 * 7"], { limitMs })).toBe("42\n");
  });

  it("rejects with the last words of a program that fails", async () => {
    const args = ["-e", "console.error('no such model'); process.exit(3)"];
    await expect(runProgram(process.execPath, args, { limitMs })).rejects.toThrow(/no such model/);
  });

  it("rejects when the program does not exist", async () => {
    await expect(runProgram("no-such-program-here", [], { limitMs })).rejects.toBeInstanceOf(BenchError);
  });

  it("ends a program that takes too long", async () => {
    const endless = ["-e", "setInterval(() => {}, 1000)"];
    await expect(runProgram(process.execPath, endless, { limitMs: 300 })).rejects.toThrow(/still running/);
  });

  it("ends the program and rejects with the reason when it is stopped", async () => {
    const stop = new AbortController();
    const reason = new BenchError("Stopped.");
    const running = runProgram(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
      limitMs,
      signal: stop.signal,
    });
    stop.abort(reason);
    await expect(running).rejects.toBe(reason);
  });
});

describe.runIf(process.platform !== "win32")("a running program", () => {
  it("takes what it started with it when it is stopped", async () => {
    const child =
      "require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])";
    const program = startProgram(process.execPath, [
      "-e",
      `console.log(${child}.pid); setInterval(() => {}, 1000)`,
    ]);
    while (!program.stdout.includes("\n")) await sleep(10);
    const grandchild = Number(program.stdout);
    expect(() => process.kill(grandchild, 0)).not.toThrow();
    await program[Symbol.asyncDispose]();
    expect(program.hasEnded).toBe(true);
    await expect.poll(() => isRunning(grandchild), { timeout: 5_000 }).toBe(false); // the system reaps it
  });
});
