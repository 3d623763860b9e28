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

test("a function or constant is not named by a preposition", () => {
  const text = "function titleOf(text) {}\nexport const chatWith = () => {};\nfor (let sizeOf of sizes) {}\n";
  const problems = wordProblems([{ path: "packages/web/src/a.tsx", text }]);
  expect(problems.map((problem) => problem.split(" is retired")[0])).toEqual([
    'packages/web/src/a.tsx:1: "function titleOf"',
    'packages/web/src/a.tsx:2: "const chatWith"',
    'packages/web/src/a.tsx:3: "let sizeOf"',
  ]);
});

test("uses of such names, parts of longer ones, keywords of JSON schema and other languages pass", () => {
  const text =
    "typeof a; texts.indexOf(b); b.endsWith(c); const withoutLimit = 1; const ofModel = 2; const allOf = [];";
  expect(wordProblems([{ path: "bench/src/a.ts", text }])).toEqual([]);
  expect(wordProblems([{ path: "docs/a.md", text: "const titleOf = 1;" }])).toEqual([]);
});
