import { logLinesMax } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { keptIn, type LoggerSetting, type LogLevel } from "../logger.ts";
import Fastify from "fastify";
import { LogRing } from "./log-ring.ts";

const line = (of: object): string => JSON.stringify({ level: 30, time: 1_500, pid: 1, hostname: "h", ...of });

describe("log ring", () => {
  it("returns level, time, message and details of the lines after a number", () => {
    const ring = new LogRing();
    ring.write(line({ msg: "one" }));
    ring.write(line({ level: 40, msg: "two", route: "/v1/chat/completions", status: 200 }));
    ring.write(line({ level: 60 }));
    expect(ring.after(1)).toEqual([
      {
        number: 2,
        time: 1.5,
        level: "warn",
        message: "two",
        details: { route: "/v1/chat/completions", status: 200 },
      },
      { number: 3, time: 1.5, level: "error", message: "", details: {} },
    ]);
    expect([ring.last, ring.after(3)]).toEqual([3, []]);
  });

  it("keeps the last lines, limited in number and length", () => {
    const ring = new LogRing();
    for (let number = 1; number <= logLinesMax + 2; number += 1) ring.write(line({ msg: `${number}` }));
    expect(ring.after(0)).toHaveLength(logLinesMax);
    expect(ring.after(0)[0]).toMatchObject({ number: 3, message: "3" });
    const large = line({ msg: "x".repeat(600_000) });
    ring.write(large);
    ring.write(large);
    expect(ring.after(0).map(({ number }) => number)).toEqual([logLinesMax + 4]);
  });
});

/** The messages that were printed, and those in the ring, of one line at each level. */
async function logged(level: LogLevel): Promise<{ out: unknown[]; kept: string[] }> {
  const out: unknown[] = [];
  const ring = new LogRing();
  const stream = { write: (text: string) => out.push(Reflect.get(JSON.parse(text), "msg")) };
  const app = Fastify({ logger: keptIn(ring, { level, stream }) });
  const child = app.log.child({ requestId: "r" });
  for (const each of ["debug", "info", "warn", "error"] as const) child[each](each);
  await app.close();
  return { out, kept: ring.after(0).map(({ message }) => message) };
}

describe("a log kept in a ring", () => {
  it.each<[LogLevel, string[]]>([
    ["debug", ["debug", "info", "warn", "error"]],
    ["info", ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["silent", []],
  ])("of level %s writes its own lines, and the ring has those of info and above", async (level, own) => {
    expect(await logged(level)).toEqual({ out: own, kept: ["info", "warn", "error"] });
  });

  it("prints nothing without a ring", () => {
    const none: LoggerSetting = false;
    expect(keptIn(new LogRing(), none)).toBe(false);
  });
});
