import { expect, test } from "vitest";

import { exportProblems } from "./exports.ts";

test("an export that only its own file names is a problem; one that another file names is none", () => {
  const files = [
    { path: "a.ts", text: "// A.\nexport function lonely() {}\nexport interface Used {}\nlonely();\n" },
    { path: "b.ts", text: 'import type { Used } from "./a.ts";\nconst used: Used = {};\n' },
  ];
  expect(exportProblems(files)).toEqual([
    "a.ts:2: no other file names lonely; do not export it, or delete it",
  ]);
});

test("tests count as files that name an export, pages do not", () => {
  const only = { path: "a.ts", text: "export const one = 1;\n" };
  expect(exportProblems([only, { path: "a.test.ts", text: "one" }])).toEqual([]);
  expect(exportProblems([only, { path: "a.md", text: "one" }])).toHaveLength(1);
});
