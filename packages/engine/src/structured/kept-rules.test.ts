import { describe, expect, it } from "vitest";
import { keptRules } from "./kept-rules.ts";

const mebibyte = 1024 * 1024;

describe("rules that are kept", () => {
  it("are written once for one key, and again for another", () => {
    let written = 0;
    const write = (): string => `root ::= "${(written += 1)}"`;
    expect(keptRules("a", write)).toBe('root ::= "1"');
    expect(keptRules("a", write)).toBe('root ::= "1"');
    expect(keptRules("b", write)).toBe('root ::= "2"');
  });

  it("make way for newer ones, those first that nobody asked for again", () => {
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

  it("are not there for what failed", () => {
    expect(() =>
      keptRules("bad", () => {
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(keptRules("bad", () => "good")).toBe("good");
  });
});
