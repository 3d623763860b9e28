import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { logLine, usualLogFormat } from "./logger.ts";

const withTerminals = (...descriptors: number[]) => ({
  isTerminal: (each: number) => descriptors.includes(each),
  isFile: () => false,
});

describe("usualLogFormat", () => {
  it.each([[0], [1], [2]])("is text where descriptor %i is a terminal", (descriptor) => {
    expect(usualLogFormat(withTerminals(descriptor))).toBe("text");
  });

  it("is text in a file, whoever started the program", () => {
    expect(usualLogFormat({ isTerminal: () => false, isFile: (descriptor) => descriptor === 2 })).toBe(
      "text",
    );
  });

  it("is JSON for a service and in a pipe of another program", () => {
    expect(usualLogFormat(withTerminals())).toBe("json");
  });

  it("leaves Node able to follow links after it looked at a pipe", () => {
    const logger = JSON.stringify(new URL("../dist/logger.js", import.meta.url).href);
    const script = `const { usualLogFormat } = await import(${logger}); usualLogFormat(); await import("cli-progress");`;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: new URL("..", import.meta.url),
      encoding: "utf8",
      timeout: 20_000,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

it("writes a sentence as pino writes a line", () => {
  expect(JSON.parse(logLine("ready", { model: "tiny" }))).toEqual({
    level: 30,
    time: expect.any(Number),
    pid: process.pid,
    hostname: expect.any(String),
    model: "tiny",
    msg: "ready",
  });
});
