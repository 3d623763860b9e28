// What budgets.ts must find, and what its reading of C++ must not be fooled by.
import { describe, expect, it } from "vitest";

import { budgetProblems, filesOverAim } from "./budgets.ts";
import { findFunctions } from "./cpp-functions.ts";

const problems = (path: string, text: string): string[] => budgetProblems([{ path, text }], []);
const lines = (count: number): string => "x\n".repeat(count);

describe("sizes of files", () => {
  it.each([
    ["packages/a/src/b.ts", 400],
    ["packages/a/src/b.test.ts", 600],
    ["packages/engine-native/src/base/b.cpp", 450],
    ["packages/engine-native/src/base/b_test.cpp", 600],
  ])("stops %s at %i lines", (path, limit) => {
    expect(problems(path, lines(limit))).toEqual([]);
    expect(problems(path, lines(limit + 1))).toEqual([expect.stringContaining(`the limit is ${limit}`)]);
  });

  it("distinguishes files over their target from those over their limit", () => {
    const over = (count: number): string[] => filesOverAim([{ path: "a.ts", text: lines(count) }]);
    expect(over(250)).toEqual([]);
    expect(over(251)).toEqual(["a.ts: 251 lines, the aim is 250"]);
    expect(over(401)).toEqual([]);
  });
});

describe("sizes of C++ functions", () => {
  const long = `void plan() {\n${lines(69)}}\n`;

  it("stops a function at 70 lines", () => {
    expect(problems("a.cpp", `void plan() {\n${lines(68)}}\n`)).toEqual([]);
    expect(problems("a.cpp", long)).toEqual([expect.stringContaining("a.cpp:1: plan has 71 lines")]);
  });

  it("looks into namespaces and classes", () => {
    const text = `namespace sched {\nclass [[nodiscard]] Scheduler : public Base {\npublic:\n${long}};\n}\n`;
    expect(problems("a.h", text)).toEqual([expect.stringContaining("plan has 71 lines")]);
  });

  it("is not fooled by literals, comments, macros and initializer lists", () => {
    const text = [
      "// {",
      "#define OPEN {  \\",
      "  {",
      "const char* braces = \"{{{\"; /* { */ char brace = '{'; int million = 1'000'000;",
      'auto raw = R"x({ ")" {)x";',
      "template <typename T = int> struct Box { int size(Options o = {}) { return 1; } };",
      "Engine::Engine(int size)",
      '    : size_{size}, name_{make("}")} {',
      "    start();",
      "}",
      'TEST_CASE("plans {nothing} twice") {',
      "}",
    ].join("\n");
    expect(findFunctions(text)).toEqual([
      { name: "size", line: 6, lines: 1 },
      { name: "Engine::Engine", line: 7, lines: 4 },
      { name: '"plans {nothing} twice"', line: 11, lines: 2 },
    ]);
  });
});

describe("words and indexes", () => {
  it.each([
    ["a.ts", "// TODO: later", "unfinished"],
    ["a.cpp", "// FIXME", "unfinished"],
    ["docs/a.md", "see /work/here", "workplace"],
    ["a.json", '"../shared/models"', "workplace"],
    ["pnpm-lock.yaml", "tarball: https://registry.npmjs.org/a.tgz", "registry"],
    ["packages/a/src/b.ts", 'export * from "./c.ts";', "export-star"],
    ["packages/a/src/b/index.ts", "export {};", "index-file"],
  ])("finds in %s: %s", (path, text, rule) => {
    expect(problems(path, `\n${text}\n`)).toEqual([expect.stringContaining(`(${rule})`)]);
  });

  it.each([
    ["pnpm-lock.yaml", "integrity: sha512-TODO/XXX=="],
    [".github/workflows/ci.yml", "uses: ./.github/workflows/a.yml"],
    ["a.ts", "const networkPath = `${home}/work/models`;"],
    ["packages/a/src/index.ts", 'export { a } from "./a.ts";'],
  ])("leaves %s alone: %s", (path, text) => {
    expect(problems(path, `${text}\n`)).toEqual([]);
  });

  it("honours an exception and reports one that is not needed", () => {
    const exception = { path: "a.ts", rule: "unfinished", reason: "a test" };
    expect(budgetProblems([{ path: "a.ts", text: "TODO" }], [exception])).toEqual([]);
    expect(budgetProblems([{ path: "a.ts", text: "done" }], [exception])).toEqual([
      expect.stringContaining("is not needed any more"),
    ]);
  });
});
