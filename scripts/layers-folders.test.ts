import { expect, test } from "vitest";

import { findCircles, folderProblems } from "./layers-folders.ts";

const plan = { "packages/a/src": [["low"], ["one", "other"], ["."]] };

function problems(files: Record<string, string>): string[] {
  const texts = Object.entries(files).map(([path, text]) => ({ path: `packages/a/src/${path}`, text }));
  return folderProblems(texts, plan);
}

test("files import from their own folder and lower ones", () => {
  expect(
    problems({
      "low/a.ts": 'import { b } from "./b.ts";\n',
      "low/b.ts": "export const b = 1;\n",
      "one/deep/c.ts": 'import { a } from "../../low/a.ts";\nimport type { D } from "../d.ts";\n',
      "one/d.ts": "export type D = 1;\n",
      "index.ts": 'export { c } from "./one/deep/c.ts";\n',
    }),
  ).toEqual([]);
});

test("an import from a higher folder, or from one beside, is a problem; so is one of types", () => {
  expect(problems({ "low/a.ts": '// A.\nimport type { C } from "../one/c.ts";\n' })).toEqual([
    "packages/a/src/low/a.ts:2: low may not import one, which is above it (scripts/layers-folders.ts)",
  ]);
  expect(problems({ "one/c.ts": 'import { x } from "../other/x.ts";\n' })).toHaveLength(1);
  expect(problems({ "one/c.ts": 'import { x } from "../index.ts";\n' })).toHaveLength(1);
});

test("a folder without a layer is a problem", () => {
  expect(problems({ "attic/a.ts": "" })).toEqual([
    "packages/a/src/attic/a.ts:1: the folder attic has no layer; add it to scripts/layers-folders.ts",
  ]);
});

test("circles are found once each, with their files in order", () => {
  const imports = [
    { from: "a", to: "b" },
    { from: "b", to: "c" },
    { from: "c", to: "b" },
    { from: "d", to: "a" },
  ];
  expect(findCircles(imports)).toEqual([["b", "c", "b"]]);
});
