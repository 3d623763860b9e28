// Measures the structure of the code, for those who change it: `tsx scripts/structure.ts` prints one line for each figure, and
// `--list` the files behind those that should become smaller.
import { exportProblems } from "./exports.ts";
import { countLines, isTest, readTextFiles, type TextFile } from "./files.ts";
import { findCircles, readImports, layers } from "./layers-folders.ts";

/** Where a file is so small that its idea may belong to a neighbour, and where it comes close to the limit. */
const smallLines = 35;
const largeLines = 380;

/** An option of sampling that few files may name: its row, its C++ member, and pages that are written from the row. */
const exampleOption = /xtc_?threshold/i;

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly files?: readonly string[];
}

/** Code of the product and its tools. Code of others, models for tests and what only tests use is not. */
function isProduction({ path }: TextFile): boolean {
  const isCode = /\.(tsx?|js|cpp|h|css)$/.test(path);
  return isCode && !isTest(path) && !/^vendor\/|^packages\/fixtures\/|(^|\/)test\//.test(path);
}

function figures(files: readonly TextFile[]): Figure[] {
  const production = files.filter(isProduction);
  const tests = files.filter((file) => /\.(tsx?|js|cpp|h)$/.test(file.path) && isTest(file.path));
  const lines = (some: readonly TextFile[]): number =>
    some.reduce((sum, { text }) => sum + countLines(text), 0);
  const small = production.filter(({ text }) => countLines(text) < smallLines);
  const large = production.filter(({ path, text }) => /\.tsx?$/.test(path) && countLines(text) >= largeLines);
  const typescript = production.filter(({ path }) => /^packages\/.*\.tsx?$/.test(path));
  const naming = production.filter(({ text }) => exampleOption.test(text));
  const found = findCircles(typescript.flatMap(readImports));
  const lonely = exportProblems(files);
  const rows = layers["packages/engine/src"] ?? [];
  return [
    { name: "production files", value: production.length },
    { name: "production lines", value: lines(production) },
    { name: "test files", value: tests.length },
    { name: "test lines", value: lines(tests) },
    {
      name: "circles of imports, types included",
      value: found.length,
      files: found.map((each) => each.join(" → ")),
    },
    { name: "folders of engine/src, and the files beside them", value: rows.flat().length },
    { name: "exports that no other file names", value: lonely.length, files: lonely },
    named(`files under ${smallLines} lines`, small),
    named(`TypeScript files of ${largeLines} lines or more`, large),
    named("files that name one sampling option", naming),
  ];
}

function named(name: string, some: readonly TextFile[]): Figure {
  return { name, value: some.length, files: some.map(({ path, text }) => `${countLines(text)} ${path}`) };
}

const lists = process.argv.includes("--list");
for (const { name, value, files = [] } of figures(await readTextFiles())) {
  console.log(`${String(value).padStart(8)}  ${name}`);
  if (lists) for (const file of files) console.log(`          ${file}`);
}
