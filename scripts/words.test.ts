import { expect, test } from "vitest";

import { wordProblems } from "./words.ts";

test("a retired word is named with its line and with the word to use", () => {
  expect(wordProblems([{ path: "tools/a.ts", text: "const a = 1;\n// The donor's cells.\n" }])).toEqual([
    'tools/a.ts:2: "donor" is retired; the glossary says: cached sequence',
  ]);
});

test("ordinary words that look alike pass", () => {
  const text = "Math.floor(x); std::floor(x); he said so; in order; a stranded reader; Usedby";
  expect(wordProblems([{ path: "tools/a.ts", text }])).toEqual([]);
});
