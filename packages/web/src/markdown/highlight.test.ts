import { describe, expect, it } from "vitest";

import { highlighterOf, readSpans, type Span } from "./highlight.ts";

const textOf = (spans: readonly Span[]): string =>
  spans.map((span) => (typeof span === "string" ? span : textOf(span.spans))).join("");

describe("readSpans", () => {
  it("reads nested spans", () => {
    expect(readSpans('a<span class="x y"><span class="z">&lt;b&gt;</span> &amp;</span>')).toEqual([
      "a",
      { className: "x y", spans: [{ className: "z", spans: ["<b>"] }, " &"] },
    ]);
  });

  it.each(["<b>", '<span onclick="x">', "</span>", '<span class="a">'])("rejects %s", (html) => {
    expect(() => readSpans(html)).toThrow("highlight.js");
  });
});

describe("highlighterOf", () => {
  it.each([
    ["ts", 'const a: string = "<&>\'";\n// done'],
    ["python", "def f(x):\n    return f'{x}' * 2"],
    ["html", '<script>alert("x")</script><b style="a">'],
    ["C++", "std::vector<int> v{1, 2};"],
  ])("preserves the text of %s", (language, code) => {
    const spans = highlighterOf(language)?.(code) ?? [];
    expect(textOf(spans)).toBe(code);
    expect(spans.some((span) => typeof span !== "string")).toBe(true);
  });

  it("is null for an unknown language", () => {
    expect(highlighterOf("klingon")).toBeNull();
  });
});
