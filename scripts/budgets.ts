// Limits of file and C++ function sizes, words for unfinished work or paths of one machine, and index files. A step of check.ts.
// oxlint measures TypeScript's functions.
import { findFunctions } from "./cpp-functions.ts";
import { countLines, lineAt, type TextFile } from "./files.ts";

/** The target number of lines of a file, and the limit at which it must be split. */
interface Budget {
  readonly pattern: RegExp;
  readonly aim: number;
  readonly limit: number;
}

/** The first matching pattern counts. oxlint's max-lines repeats the TypeScript rows for editors. */
const budgets: readonly Budget[] = [
  { pattern: /(\.(test|bench)\.tsx?|_test\.cpp)$/, aim: 400, limit: 600 },
  { pattern: /\.(tsx?|js|mjs|cjs)$/, aim: 250, limit: 400 },
  { pattern: /\.(cpp|h)$/, aim: 250, limit: 450 },
];

const functionLinesMax = 70;

/** Forbidden text, and why. */
interface Banned {
  readonly rule: string;
  readonly pattern: RegExp;
  readonly reason: string;
  /** Files that may contain it. */
  readonly except?: RegExp;
}

const banned: readonly Banned[] = [
  {
    rule: "unfinished",
    pattern: /\b(TODO|FIXME|XXX)\b/,
    reason: "finish it, or say in a sentence what is not supported",
    // Hashes may contain anything.
    except: /^pnpm-lock\.yaml$/,
  },
  {
    rule: "workplace",
    pattern: /(?<![\w.~}-])\/work\/|\.\.\/shared\b/,
    reason: "a path of one machine means nothing on another",
  },
  {
    rule: "registry",
    pattern: /\bregistry\.(npmjs\.org|yarnpkg\.com|npmmirror\.com)\b/,
    reason: "the registry is the user's own npm setting",
  },
  {
    rule: "export-star",
    pattern: /^export \*/,
    reason: "list the names one by one",
    except: /\.(?!tsx?$)[^.]*$/,
  },
];

/** An exception for one file from one rule, and why. An unused exception is itself a problem. */
export interface Exception {
  readonly path: string;
  readonly rule: string;
  readonly reason: string;
}

const exceptions: readonly Exception[] = [
  { path: "scripts/budgets.ts", rule: "unfinished", reason: "spells the words it looks for" },
  { path: "scripts/budgets.test.ts", rule: "unfinished", reason: "spells the words it looks for" },
  { path: "scripts/budgets.test.ts", rule: "workplace", reason: "spells the words it looks for" },
  { path: "scripts/budgets.test.ts", rule: "registry", reason: "spells the words it looks for" },
];

interface Finding {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly text: string;
}

/** Every broken budget and banned word, as `path:line: sentence`. */
export function budgetProblems(
  files: readonly TextFile[],
  allowed: readonly Exception[] = exceptions,
): string[] {
  const findings = files.flatMap((file) => [
    ...sizeFindings(file),
    ...functionFindings(file),
    ...wordFindings(file),
    ...indexFindings(file),
  ]);
  const isAllowed = (finding: Finding, exception: Exception): boolean =>
    finding.path === exception.path && finding.rule === exception.rule;
  const unused = allowed.filter((exception) => !findings.some((finding) => isAllowed(finding, exception)));
  return [
    ...findings
      .filter((finding) => !allowed.some((exception) => isAllowed(finding, exception)))
      .map(({ path, line, rule, text }) => `${path}:${line}: ${text} (${rule})`),
    ...unused.map(
      ({ path, rule }) => `scripts/budgets.ts: the exception ${rule} for ${path} is not needed any more`,
    ),
  ];
}

/** Files over their target and within their limit: worth a look, not a failure. */
export function filesOverAim(files: readonly TextFile[]): string[] {
  return files.flatMap((file) => {
    const budget = findBudget(file);
    const lines = countLines(file.text);
    if (budget === undefined || lines <= budget.aim || lines > budget.limit) return [];
    return [`${file.path}: ${lines} lines, the aim is ${budget.aim}`];
  });
}

function findBudget(file: TextFile): Budget | undefined {
  return budgets.find(({ pattern }) => pattern.test(file.path));
}

function sizeFindings(file: TextFile): Finding[] {
  const limit = findBudget(file)?.limit ?? Infinity;
  const lines = countLines(file.text);
  if (lines <= limit) return [];
  return [{ path: file.path, line: 1, rule: "file-size", text: `${lines} lines, the limit is ${limit}` }];
}

function functionFindings(file: TextFile): Finding[] {
  if (!/\.(cpp|h)$/.test(file.path)) return [];
  return findFunctions(file.text)
    .filter(({ lines }) => lines > functionLinesMax)
    .map(({ name, line, lines }) => ({
      path: file.path,
      line,
      rule: "function-size",
      text: `${name} has ${lines} lines, the limit is ${functionLinesMax}`,
    }));
}

function wordFindings(file: TextFile): Finding[] {
  return banned
    .filter(({ except }) => except === undefined || !except.test(file.path))
    .flatMap(({ rule, pattern, reason }) =>
      [...file.text.matchAll(new RegExp(pattern, "gm"))].map((match) => ({
        path: file.path,
        line: lineAt(file.text, match.index),
        rule,
        text: `"${match[0]}": ${reason}`,
      })),
    );
}

function indexFindings(file: TextFile): Finding[] {
  if (!/(^|\/)index\.tsx?$/.test(file.path) || /^packages\/[^/]+\/src\/index\.ts$/.test(file.path)) return [];
  return [
    { path: file.path, line: 1, rule: "index-file", text: "only a package's src/index.ts is an index" },
  ];
}
