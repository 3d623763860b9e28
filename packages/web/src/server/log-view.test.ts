import type { LogLine } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { detailsText, shownLines } from "./log-view.ts";

function line(number: number, of: Partial<LogLine> = {}): LogLine {
  return { number, time: number, level: "info", message: `line ${number}`, details: {}, ...of };
}

const numbers = (lines: readonly LogLine[]): number[] => lines.map(({ number }) => number);

describe("shown lines", () => {
  const lines = [
    line(1),
    line(2, { message: "request done", details: { model: "Tiny", tokens: 12 } }),
    line(3, { level: "error", message: "it broke" }),
  ];

  it("have at least the level", () => {
    expect(numbers(shownLines(lines, { level: "warn", words: "" }))).toEqual([3]);
    expect(numbers(shownLines(lines, { level: "info", words: "" }))).toEqual([1, 2, 3]);
  });

  it("contain the words in message or details", () => {
    expect(numbers(shownLines(lines, { level: "info", words: " tiny " }))).toEqual([2]);
    expect(numbers(shownLines(lines, { level: "info", words: "BROKE" }))).toEqual([3]);
  });

  it("show details as names and values", () => {
    expect(detailsText(lines[1] ?? line(0))).toBe("model=Tiny tokens=12");
  });
});
