import { describe, expect, it } from "vitest";
import { keptRules } from "./rules.ts";

const mebibyte = 1024 * 1024;

describe("cached rules", () => {
  it("are written once per key", () => {
    let written = 0;
    const write = (): string => `root ::= "${(written += 1)}"`;
    expect(keptRules("a", write)).toBe('root ::= "1"');
    expect(keptRules("a", write)).toBe('root ::= "1"');
    expect(keptRules("b", write)).toBe('root ::= "2"');
  });

  it("are evicted, least recently used first", () => {
    let written = 0;
    const write = (): string => {
      written += 1;
      return "x".repeat(mebibyte);
    };
    keptRules("often", write);
    for (let index = 0; index < 40; index += 1) {
      keptRules(`once-${index}`, write);
      keptRules("often", write);
    }
    expect(written).toBe(41);
    keptRules("once-0", write);
    expect(written).toBe(42);
  });

  it("do not include failures", () => {
    expect(() =>
      keptRules("bad", () => {
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(keptRules("bad", () => "good")).toBe("good");
  });
});
