import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { noBlocks, splitBlocks, type Blocks } from "./blocks.ts";
import { lexer } from "./lexer.ts";

const pieces = [
  ["word ", "x", " ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "# a", "#", "===", "=", "---"],
  ["- ", "-", "- x", "1", ". ", "1. y", "***", "*", "**b", "> q", ">", "|a|b|", "|-|-|"],
  ["```", "`", "~~~", "$$", "\\[", "\\]", "[a]: b", '"t', '"', "<b>", "<div>", "</div>", "<!--", "-->"],
].flat();

/** The blocks of a text that arrives character by character. */
function grow(text: string): Blocks {
  let blocks = noBlocks;
  for (let end = 1; end <= text.length; end += 1) blocks = splitBlocks(text.slice(0, end), blocks);
  return blocks;
}

describe("splitBlocks", () => {
  it("splits at the ends of blocks", () => {
    expect(splitBlocks("# A\n\none\n\n- x\n- y\n\ntwo").blocks).toEqual([
      "# A\n\n",
      "one\n\n",
      "- x\n- y\n\n",
      "two",
    ]);
  });

  it("keeps a list open for its next item", () => {
    expect(grow("- a\n\n- b\n\n- c").blocks).toEqual(["- a\n\n- b\n\n- c"]);
    expect(grow("1. a\n\n2. b\n\n10. c").blocks).toEqual(["1. a\n\n2. b\n\n10. c"]);
  });

  it("keeps a code block together, closed or not", () => {
    const code = "```js\na\n\n# b\n\n```";
    expect(grow(code).blocks).toEqual([code]);
    expect(grow(`${code}\n\nend`).blocks).toEqual([`${code}\n\n`, "end"]);
    expect(grow("```\na\n\nb").blocks).toEqual(["```\na\n\nb"]);
  });

  it("keeps an unclosed formula with empty lines together", () => {
    expect(grow("$$\na\n\nb").blocks).toEqual(["$$\na\n\nb"]);
  });

  it("collects link definitions", () => {
    expect(splitBlocks("[a]\n\n[a]: https://x.example\n\nend").definitions).toBe(
      "[a]: https://x.example\n\n",
    );
  });

  it("keeps the settled blocks of the text before", () => {
    const before = splitBlocks("one\n\ntwo\n\nthr");
    const after = splitBlocks("one\n\ntwo\n\nthree\n\nfour", before);
    expect(after.blocks.slice(0, 2)).toEqual(before.blocks.slice(0, 2));
    expect(after.blocks[0]).toBe(before.blocks[0]);
  });

  it("starts over with a different text", () => {
    expect(splitBlocks("other", splitBlocks("one\n\ntwo\n\nthree")).blocks).toEqual(["other"]);
  });

  it("starts over with a shorter text", () => {
    expect(splitBlocks("one", splitBlocks("one\n\ntwo\n\nthree")).blocks).toEqual(["one"]);
  });

  it.each(["words\n#tag", "words\n-5 degrees", "|a|\n|-|\n#x", "words\n*\n|-|-|x"])(
    "takes a line for what it is when it is whole: %j",
    (text) => {
      expect(grow(text).blocks.flatMap(shownBlocks)).toEqual(shownBlocks(text));
    },
  );

  it("finds the blocks of the whole text, however it arrives", () => {
    const piece = fc.constantFrom(...pieces);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (arriving) => {
        let text = "";
        let split = noBlocks;
        for (const next of arriving) {
          text += next;
          split = splitBlocks(text, split);
          expect(split.blocks.join("")).toBe(text);
        }
        expect(split.blocks.flatMap(shownBlocks)).toEqual(shownBlocks(text));
      }),
      { numRuns: 1_000 },
    );
  });
});

/** The blocks as they are rendered. */
function shownBlocks(text: string): string[] {
  const tokens = lexer.lex(text).filter(({ type }) => type !== "space");
  return tokens.map(({ type, raw }) => `${type} ${raw.trim()}`);
}
