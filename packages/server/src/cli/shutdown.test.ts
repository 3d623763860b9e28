import { EventEmitter } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CliError } from "./errors.ts";
import { Shutdown } from "./shutdown.ts";

function setUp() {
  const source = new EventEmitter();
  const exits: number[] = [];
  const clock = { ms: 0 };
  const shutdown = new Shutdown({ source, exit: (code) => exits.push(code), now: () => clock.ms });
  return { source, exits, clock, shutdown };
}

describe("Shutdown", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("aborts at the first %s with the exit code %i", (name, exitCode) => {
    const { source, exits, shutdown } = setUp();
    expect(shutdown.state).toBe("running");
    source.emit(name);
    expect(shutdown.state).toBe("stopping");
    expect(shutdown.signal.reason).toBeInstanceOf(CliError);
    expect(shutdown.signal.reason).toMatchObject({ exitCode });
    expect(exits).toEqual([]);
  });

  it("exits at once at a second signal, with that signal's code", () => {
    const { source, exits, clock, shutdown } = setUp();
    source.emit("SIGINT");
    clock.ms = 1000;
    source.emit("SIGTERM");
    expect(exits).toEqual([143]);
    expect(shutdown.state).toBe("ended");
  });

  it("treats copies of one key press as one signal", () => {
    const { source, exits, clock, shutdown } = setUp();
    source.emit("SIGINT");
    clock.ms = 5;
    source.emit("SIGINT");
    clock.ms = 149;
    source.emit("SIGINT");
    expect(exits).toEqual([]);
    expect(shutdown.state).toBe("stopping");
  });

  it("exits at most once, and never without a second press, whatever comes in", () => {
    const press = fc.record({ name: fc.constantFrom("SIGINT", "SIGTERM"), afterMs: fc.nat(300) });
    fc.assert(
      fc.property(fc.array(press, { maxLength: 8 }), (presses) => {
        const { source, exits, clock, shutdown } = setUp();
        const times = presses.map(({ name, afterMs }) => {
          clock.ms += afterMs;
          source.emit(name);
          return clock.ms;
        });
        const pressedAgain = times.some((time) => time - (times[0] ?? 0) >= 150);
        expect(exits).toHaveLength(pressedAgain ? 1 : 0);
        expect(shutdown.signal.aborted).toBe(presses.length > 0);
      }),
    );
  });

  it("resolves requested() at the first signal and at once after it", async () => {
    const { source, shutdown } = setUp();
    const requested = shutdown.requested();
    source.emit("SIGTERM");
    await requested;
    await shutdown.requested();
    expect(shutdown.signal.aborted).toBe(true);
  });

  it("leaves signals to a receiver, and takes them again afterwards", () => {
    const { source, exits, clock, shutdown } = setUp();
    const received: string[] = [];
    {
      using _diverted = shutdown.divert((name) => received.push(name));
      for (const name of ["SIGINT", "SIGINT", "SIGHUP", "SIGTERM"]) {
        source.emit(name);
        clock.ms += 1000;
      }
    }
    expect(received).toEqual(["SIGINT", "SIGINT", "SIGHUP", "SIGTERM"]);
    expect([shutdown.state, exits, source.listenerCount("SIGHUP")]).toEqual(["running", [], 0]);
    source.emit("SIGTERM");
    expect(shutdown.state).toBe("stopping");
  });

  it("stops listening once it is disposed", () => {
    const { source, shutdown } = setUp();
    shutdown[Symbol.dispose]();
    source.emit("SIGINT");
    expect(source.listenerCount("SIGINT") + source.listenerCount("SIGTERM")).toBe(0);
    expect(shutdown.state).toBe("running");
  });
});
