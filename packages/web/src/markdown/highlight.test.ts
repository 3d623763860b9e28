import { describe, expect, it } from "vitest";

import { findHighlighter, readSpans, type Span } from "./highlight.ts";

const joinSpans = (spans: readonly Span[]): string =>
  spans.map((span) => (typeof span === "string" ? span : joinSpans(span.spans))).join("");

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

describe("findHighlighter", () => {
  it.each([
    ["ts", 'const a: string = "<&>\'";\n// done'],
    ["python", "def f(x):\n    return f'{x}' * 2"],
    ["html", '<script>alert("x")</script><b style="a">'],
    ["C++", "std::vector<int> v{1, 2};"],
  ])("preserves the text of %s", (language, code) => {
    const spans = findHighlighter(language)?.(code) ?? [];
    expect(joinSpans(spans)).toBe(code);
    expect(spans.some((span) => typeof span !== "string")).toBe(true);
  });

  it("is null for an unknown language", () => {
    expect(findHighlighter("klingon")).toBeNull();
  });
});
