// What docs.ts must find in documents.
import { describe, expect, it } from "vitest";

import { docProblems } from "./docs.ts";

const commands = {
  scripts: new Set(["test", "ingle"]),
  programs: new Set(["vitest"]),
  ingle: new Set(["serve"]),
};

function problems(text: string): string[] {
  const files = [
    { path: "README.md", text },
    { path: "docs/cli.md", text: "# The command line\n\n## Serve\n\n## Serve\n" },
  ];
  return docProblems(files, commands, (name) => files.some((file) => file.path === name) || name === "docs");
}

describe("links", () => {
  it.each([
    "[a](docs/cli.md)",
    "[a](docs/cli.md#the-command-line)",
    "[a](docs/cli.md#serve-1)",
    "[a](docs)",
    "[a](https://example.org/none.md)",
    "`[a](none.md)`",
    "```sh\n[a](none.md)\n```",
    "# Here\n[a](#here)",
  ])("follows %j", (text) => {
    expect(problems(text)).toEqual([]);
  });

  it.each([
    ["[a](none.md)", "none.md leads nowhere"],
    ["[a](../outside.md)", "../outside.md leads nowhere"],
    ["[a](docs/cli.md#none)", "docs/cli.md has no such heading"],
    ['![a](none.png "title")', "none.png leads nowhere"],
    ["[a](#none)", "README.md has no such heading"],
  ])("reports %j", (text, problem) => {
    expect(problems(`\n${text}\n`)).toEqual([expect.stringContaining(`README.md:2: `)]);
    expect(problems(text)[0]).toContain(problem);
  });
});

describe("commands", () => {
  it.each([
    "npx --yes pnpm@12 test",
    "INGLE_GPU=cpu npx --yes pnpm@12 test",
    "pnpm install",
    "pnpm vitest run packages/engine",
    "$ pnpm ingle serve --port 1",
    "ingle --version",
    "curl http://127.0.0.1:1337/v1/models",
    "pnpm --filter @ingle/engine build",
  ])("knows %s", (line) => {
    expect(problems(`\`\`\`sh\n${line}\n\`\`\`\n`)).toEqual([]);
  });

  it.each([
    ["npx --yes pnpm@12 tset", 'package.json has no script "tset"'],
    ["pnpm ingle sreve", 'ingle has no command "sreve"'],
    ["ingle sreve", 'ingle has no command "sreve"'],
  ])("reports %s", (line, problem) => {
    expect(problems(`\`\`\`sh\n# A comment.\n${line}\n\`\`\`\n`)).toEqual([`README.md:3: ${problem}`]);
  });
});

describe("what CI installs", () => {
  const readme = {
    path: "README.md",
    text: "| Debian | `sudo apt-get install git g++` |\n| macOS | then `brew install cmake` |\n",
  };
  const found = (path: string, text: string): string[] =>
    docProblems([readme, { path, text }], commands, () => true);

  it("may be what the README requires, and what a script reads there", () => {
    expect(
      found(".github/workflows/ci.yml", "run: sudo apt-get install --yes git\nrun: brew install cmake"),
    ).toEqual([]);
    expect(
      found(".ci/run", 'apt-get install -q -y --no-install-recommends "${missing[@]}" || exit 1'),
    ).toEqual([]);
  });

  it("may be what the page about GPUs requires, at night only", () => {
    const files = (path: string): string[] => {
      const gpus = { path: "docs/gpu.md", text: "`sudo apt-get install glslc`" };
      return docProblems([readme, gpus, { path, text: "apt-get install glslc" }], commands, () => true);
    };
    expect(files(".github/workflows/nightly.yml")).toEqual([]);
    expect(files(".github/workflows/ci.yml")).toEqual([
      ".github/workflows/ci.yml:1: README.md does not require glslc",
    ]);
  });

  it("may be nothing else", () => {
    expect(
      found(".github/workflows/ci.yml", "run: |\n  sudo apt-get install --yes g++ doctest-dev\n"),
    ).toEqual([".github/workflows/ci.yml:2: README.md does not require doctest-dev"]);
    expect(found(".ci/run", "brew install cmake doctest")).toEqual([
      ".ci/run:1: README.md does not require doctest",
    ]);
  });
});

describe("the page that walks through the code", () => {
  const row = (what: string): string[] => {
    const files = [
      {
        path: "docs/lifecycle.md",
        text: `| file | does |\n|---|---|\n| [\`a.ts\`](../packages/x/src/in/a.ts) | ${what} |\n`,
      },
      { path: "packages/x/src/in/a.ts", text: "export function begin() {}\n" },
      { path: "packages/x/src/b.ts", text: "" },
    ];
    return docProblems(files, commands, () => true);
  };

  it("names files and functions of the code", () => {
    expect(row("`begin()`, then `b.ts`")).toEqual([]);
    expect(row("`end()`")).toEqual(["docs/lifecycle.md:3: packages/x/src/in/a.ts has no end"]);
    expect(row("`in/c.ts`")).toEqual(["docs/lifecycle.md:3: packages/x/src/in/a.ts has no in/c.ts"]);
  });

  it("has at most 120 lines", () => {
    const text = "x\n".repeat(121);
    expect(docProblems([{ path: "docs/lifecycle.md", text }], commands, () => true)).toHaveLength(1);
  });
});
