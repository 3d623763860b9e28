import { describe, expect, it } from "vitest";

import { titleOf } from "./title.ts";

describe("titleOf", () => {
  it("takes the first line that says something", () => {
    expect(titleOf("\n\n  # A *plan*  \nmore")).toBe("A plan");
    expect(titleOf("```\ncode")).toBe("code");
    expect(titleOf(" \n ")).toBe("");
  });

  it("cuts a long line at a word", () => {
    const title = titleOf("word ".repeat(40));
    expect(title.length).toBeLessThanOrEqual(81);
    expect(title.endsWith("word…")).toBe(true);
  });

  it("cuts a line without spaces anywhere", () => {
    expect(titleOf("x".repeat(200))).toBe(`${"x".repeat(80)}…`);
  });
});
