import { describe, expect, it } from "vitest";

import { toDiagramImage } from "./diagram-svg.ts";

const svg = (inside: string, attributes = 'viewBox="-8 -8 120.2 64"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="100%" ${attributes} style="max-width: 120px;">${inside}</svg>`;

const imageText = (inside: string, rules = "") =>
  decodeURIComponent(toDiagramImage(svg(inside), rules).url.replace("data:image/svg+xml;charset=utf-8,", ""));

describe("toDiagramImage", () => {
  it("has the size of the drawing", () => {
    const { url, width, height } = toDiagramImage(svg(""), "");
    expect([width, height]).toEqual([121, 64]);
    expect(decodeURIComponent(url)).toContain('<svg width="121" height="64" xmlns=');
    expect(decodeURIComponent(url)).not.toContain("max-width");
  });

  it.each(["", 'viewBox="0 0 0 0"', 'viewBox="a b c d"'])("has a default size with `%s`", (box) => {
    expect(toDiagramImage(svg("", box), "")).toMatchObject({ width: 800, height: 600 });
  });

  it("contains its rules, which cannot close their element", () => {
    expect(imageText("", "a > b {} </style><script>")).toContain(
      "<style>a &gt; b {} &lt;/style&gt;&lt;script&gt;</style>",
    );
  });

  it("replaces the character references in labels", () => {
    expect(imageText("<text>a &amp; b &lt;i&gt; &amp;hearts; &amp;#9829; &euro; &#215;</text>")).toContain(
      "<text>a &amp; b &lt;i&gt; &amp;hearts; ♥ € ×</text>",
    );
  });

  it("is valid XML, whatever a label contains", () => {
    const hostile = imageText("<text>&#1; &#xb; \u0000\u0007 \ud800 &nothing; &lt;</text>");
    expect(hostile).toContain("<text>    &amp;nothing; &lt;</text>");
  });
});
