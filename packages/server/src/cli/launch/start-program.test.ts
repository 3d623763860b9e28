import { EventEmitter } from "node:events";
import path from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { programDesk } from "../../../test/launched-program.ts";
import { Shutdown } from "../shutdown.ts";
import { startProgram } from "./start-program.ts";

/** Signals that the test sends. */
function shell({ isTTY = false } = {}) {
  const signals = new EventEmitter();
  const exits: number[] = [];
  const shutdown = new Shutdown({ source: signals, exit: (code) => exits.push(code), now: () => 0 });
  return { signals, exits, shutdown, stdin: Object.assign(new PassThrough(), { isTTY }) };
}

async function started(end: string, options: { isTTY?: boolean } = {}) {
  const desk = await programDesk("tool");
  const at = shell(options);
  const env = { PATH: process.env["PATH"], REPORT: desk.reportFile, PROGRAM: end };
  const exit = startProgram({ program: path.join(desk.bin, "tool"), args: ["a b"], env }, at);
  const close = () => desk[Symbol.asyncDispose]();
  return { ...at, desk, exit, [Symbol.asyncDispose]: close };
}

describe.runIf(process.platform !== "win32")("a program in the foreground", () => {
  it("ends with its own exit code", async () => {
    await using run = await started("exit 9");
    expect(await run.exit).toBe(9);
    expect((await run.desk.report()).args).toEqual(["a b"]);
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "receives %s, and decides what it does",
    async (signal) => {
      await using run = await started("wait");
      await run.desk.report();
      run.signals.emit(signal);
      expect(await run.exit).toBe(5);
      expect((await run.desk.report()).signals).toEqual([signal]);
      // The command itself was not stopped, and takes signals again.
      expect([run.shutdown.state, run.exits]).toEqual(["running", []]);
      run.signals.emit("SIGINT");
      expect(run.shutdown.state).toBe("stopping");
      expect(run.signals.listenerCount("SIGHUP")).toBe(0);
    },
  );

  it("that a signal ends makes 128 plus the signal's number", async () => {
    await using run = await started("die");
    await run.desk.report();
    run.signals.emit("SIGTERM");
    expect(await run.exit).toBe(143);
  });

  it("gets Ctrl-C of a terminal from the terminal, and only once", async () => {
    await using run = await started("wait", { isTTY: true });
    await run.desk.report();
    run.signals.emit("SIGINT");
    run.signals.emit("SIGTERM");
    expect(await run.exit).toBe(5);
    expect((await run.desk.report()).signals).toEqual(["SIGTERM"]);
  });

  it("that cannot be started is an error with its path", async () => {
    await expect(startProgram({ program: "/nowhere/tool", args: [], env: {} }, shell())).rejects.toThrow(
      /^\/nowhere\/tool cannot be started: .*ENOENT/,
    );
  });

  it("is not started after a signal", async () => {
    const at = shell();
    at.signals.emit("SIGINT");
    await expect(startProgram({ program: "/bin/true", args: [], env: {} }, at)).rejects.toThrow("Stopped.");
  });
});
