import { describe, expect, it } from "vitest";
import { drawBars } from "./bar-chart.ts";

const chart = {
  title: "a <b> & c",
  subtitle: `"one" sentence that is ${"long ".repeat(40)}`,
  groups: [
    {
      title: "8 clients",
      note: "tokens/s",
      bars: [
        { name: "ingle", value: 200, isOurs: true },
        { name: "it's another", value: 50, isOurs: false },
        { name: "below zero", value: -3, isOurs: false },
      ],
    },
  ],
  footer: "<footer>",
};

/** Every element is properly nested and closed, and no text contains a bare & or <. */
function expectWellFormed(xml: string): void {
  const open: string[] = [];
  for (const [tag, closing, name = "", selfClosing] of xml.matchAll(/<(\/?)([a-z]+)(?:\s[^<>]*?)?(\/?)>/g)) {
    expect(tag).not.toMatch(/="[^"]*[<&][^"]*"/);
    if (closing === "/") expect(open.pop()).toBe(name);
    else if (selfClosing !== "/") open.push(name);
  }
  expect(open).toEqual([]);
  const text = xml.replaceAll(/<\/?[a-z]+(?:\s[^<>]*?)?\/?>/g, "");
  expect(text).not.toMatch(/[<>]|&(?!(amp|lt|gt|quot|apos);)/);
}

describe("drawBars", () => {
  const picture = drawBars(chart);

  it("is well-formed XML whatever the texts are", () => {
    expectWellFormed(picture);
    expect(picture).toContain("a &lt;b&gt; &amp; c");
  });

  it("draws bars in proportion, and none that points backwards", () => {
    const widths = [...picture.matchAll(/<rect [^>]*width="(-?\d+)"/g)].map((match) => Number(match[1]));
    const [ours = 0, peer = 0, negative = 0] = widths;
    expect(widths).toHaveLength(3);
    expect(ours / peer).toBeCloseTo(4, 1);
    expect(negative).toBe(1);
  });

  it("keeps every text inside the chart", () => {
    const height = Number(/height="(\d+)"/.exec(picture)?.[1]);
    const places = [...picture.matchAll(/<text [^>]*y="([\d.]+)"/g)].map((match) => Number(match[1]));
    expect(Math.max(...places)).toBeLessThan(height);
    expect(Math.min(...places)).toBeGreaterThan(0);
  });

  it("brings colours for dark pages and loads nothing", () => {
    expect(picture).toContain("prefers-color-scheme: dark");
    expect(picture.replace("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:|url\(|<image|<script/);
  });
});
