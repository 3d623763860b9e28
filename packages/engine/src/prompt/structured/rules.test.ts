import { describe, expect, it } from "vitest";
import { cachedRules } from "./rules.ts";

const mebibyte = 1024 * 1024;

describe("cached rules", () => {
  it("are written once per key", () => {
    let written = 0;
    const write = (): string => `root ::= "${(written += 1)}"`;
    expect(cachedRules("a", write)).toBe('root ::= "1"');
    expect(cachedRules("a", write)).toBe('root ::= "1"');
    expect(cachedRules("b", write)).toBe('root ::= "2"');
  });

  it("are evicted, least recently used first", () => {
    let written = 0;
    const write = (): string => {
      written += 1;
      return "x".repeat(mebibyte);
    };
    cachedRules("often", write);
    for (let index = 0; index < 40; index += 1) {
      cachedRules(`once-${index}`, write);
      cachedRules("often", write);
    }
    expect(written).toBe(41);
    cachedRules("once-0", write);
    expect(written).toBe(42);
  });

  it("do not include failures", () => {
    expect(() =>
      cachedRules("bad", () => {
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(cachedRules("bad", () => "good")).toBe("good");
  });
});
