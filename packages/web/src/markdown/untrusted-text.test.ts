import { describe, expect, it } from "vitest";

import { decodeEntities, embeddedImage, safeLink } from "./untrusted-text.ts";
import { isMath, lexer } from "./lexer.ts";

describe("decodeEntities", () => {
  it("replaces references by their characters", () => {
    expect(decodeEntities("a &lt; b &amp;&amp; c &#8364; &#x41; &mdash;")).toBe("a < b && c € A —");
  });

  it("keeps everything else", () => {
    expect(decodeEntities("&nothing; &toString; &; & &#0; &#x110000; AT&T")).toBe(
      "&nothing; &toString; &; & &#0; &#x110000; AT&T",
    );
  });
});

describe("safeLink", () => {
  it("accepts web and mail addresses", () => {
    expect(safeLink("https://example.com/a?b#c")).toBe("https://example.com/a?b#c");
    expect(safeLink(" mailto:a@example.com")).toBe("mailto:a@example.com");
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "#/settings",
    "/v1/models",
    "file:///etc",
    "http://",
    "",
  ])("rejects %s", (address) => {
    expect(safeLink(address)).toBeUndefined();
  });
});

describe("embeddedImage", () => {
  it("accepts embedded images only", () => {
    expect(embeddedImage("data:image/png;base64,iVBORw0=")).toBe("data:image/png;base64,iVBORw0=");
    expect(embeddedImage("https://example.com/a.png")).toBeUndefined();
    expect(embeddedImage("data:image/svg+xml;base64,AAAA")).toBeUndefined();
  });
});

describe("formulas", () => {
  const formulas = (text: string) =>
    lexer
      .lex(text)
      .flatMap((token) => ("tokens" in token && token.tokens !== undefined ? token.tokens : [token]))
      .filter(isMath)
      .map(({ tex, isBlock }) => [tex, isBlock]);

  it("are recognised in all four notations", () => {
    expect(formulas("so $a^2$ and \\(b\\)")).toEqual([
      ["a^2", false],
      ["b", false],
    ]);
    expect(formulas("$$\nx = 1\n$$")).toEqual([["x = 1", true]]);
    expect(formulas("\\[ y \\]")).toEqual([["y", true]]);
    expect(formulas("here $$z$$ there")).toEqual([["z", true]]);
  });

  it("are not prices", () => {
    expect(formulas("It costs $5 or $10, about $ 7 $.")).toEqual([]);
  });

  it("are not code", () => {
    expect(formulas("`$a$`")).toEqual([]);
  });
});
