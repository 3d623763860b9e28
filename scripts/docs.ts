// Checks documents: relative links lead to existing files and headings, commands in shell blocks exist, and CI installs nothing
// that the README does not list. A step of check.ts.
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";

import { lineAt, root, type TextFile } from "./files.ts";

/** What a shell block may call. */
export interface Commands {
  /** The root package.json's scripts. */
  readonly scripts: ReadonlySet<string>;
  /** Programs that `pnpm <name>` finds. */
  readonly programs: ReadonlySet<string>;
  /** Commands of the `ingle` program. */
  readonly ingle: ReadonlySet<string>;
}

const pnpmCommands = new Set(["add", "dlx", "exec", "install", "remove", "run", "update", "why"]);

/** Every dead link and unknown command, as `path:line: sentence`. */
export function docProblems(
  files: readonly TextFile[],
  commands: Commands = readCommands(files),
  exists: (name: string) => boolean = (name) => existsSync(path.join(root, name)),
): string[] {
  const documents = files.filter((file) => file.path.endsWith(".md"));
  return [
    ...documents.flatMap((file) => [
      ...linkProblems(file, documents, exists),
      ...commandProblems(file, commands),
    ]),
    ...installProblems(files),
    ...lifecycleProblems(files),
  ];
}

/** The page that walks through the code, and how long it may be: it is to be read in one sitting. */
const lifecyclePage = "docs/lifecycle.md";
const lifecycleLinesMax = 120;

/** Names on that page that are not in the code: a row's link is a source file, `name()` a function in it, `a/b.ts` another file. */
function lifecycleProblems(files: readonly TextFile[]): string[] {
  const page = files.find(({ path: name }) => name === lifecyclePage);
  if (page === undefined) return [];
  const texts = new Map(files.map(({ path: name, text }) => [name, text]));
  const lines = page.text.split("\n");
  const problems = lines.flatMap((line, at) => {
    const [, file, what] = /^\| \[[^\]]*\]\(\.\.\/([^)]+)\) +\| (.*)$/.exec(line) ?? [];
    if (file === undefined || what === undefined) return [];
    return missingNames(what, file, texts).map(
      (name) => `${lifecyclePage}:${at + 1}: ${file} has no ${name}`,
    );
  });
  if (lines.length > lifecycleLinesMax + 1)
    problems.push(`${lifecyclePage}:1: ${lines.length - 1} lines, the limit is ${lifecycleLinesMax}`);
  return problems;
}

function missingNames(what: string, file: string, texts: ReadonlyMap<string, string>): string[] {
  const named = [...what.matchAll(/`([\w#]+)\(\)`/g)].map((match) => match[1] ?? "");
  const others = [...what.matchAll(/`([\w/.-]+\.(?:ts|cpp|h))`/g)].map((match) => match[1] ?? "");
  const source = /^packages\/[^/]+\/src\//.exec(file)?.[0] ?? "";
  return [
    ...named.filter((name) => !new RegExp(`\\b${name}\\b`).test(texts.get(file) ?? "")),
    ...others.filter(
      (name) => !texts.has(source + name) && !texts.has(`${path.posix.dirname(file)}/${name}`),
    ),
  ];
}

/** `apt-get install …` and `brew install …`, with the names of the packages in the first group. */
const install = /\b(?:apt-get|brew) install\b((?: +[\w"$@{}[\].+-]+)*)/g;

/** The page that lists the packages that nightly CI may also install, because it builds for GPUs. */
const nightlyPage = "docs/gpu.md";

/** Packages that CI installs and the README's Requirements do not list: CI must run what a newcomer runs. */
function installProblems(files: readonly TextFile[]): string[] {
  const packagesIn = (page: string): string[] =>
    [...(files.find((file) => file.path === page)?.text ?? "").matchAll(install)].flatMap(readPackageNames);
  const required = new Set(packagesIn("README.md"));
  const requiredNightly = new Set([...required, ...packagesIn(nightlyPage)]);
  const ci = files.filter((file) => /^\.(ci|github)\//.test(file.path));
  return ci.flatMap((file) => {
    const listed = file.path.endsWith("/nightly.yml") ? requiredNightly : required;
    return [...file.text.matchAll(install)].flatMap((match) =>
      readPackageNames(match)
        .filter((name) => !listed.has(name))
        .map((name) => `${file.path}:${lineAt(file.text, match.index)}: README.md does not require ${name}`),
    );
  });
}

/** Names only, without options and shell variables. */
function readPackageNames(match: RegExpExecArray): string[] {
  return (match[1] ?? "").split(/ +/).filter((word) => /^[a-z0-9]/.test(word));
}

function linkProblems(
  file: TextFile,
  documents: readonly TextFile[],
  exists: (name: string) => boolean,
): string[] {
  const text = blankCode(file.text);
  return [...text.matchAll(/\]\(([^)\s]+)[^)]*\)/g)].flatMap((match) => {
    const problem = linkProblem(file, match[1] ?? "", documents, exists);
    return problem === undefined ? [] : [`${file.path}:${lineAt(text, match.index)}: ${problem}`];
  });
}

function linkProblem(
  file: TextFile,
  link: string,
  documents: readonly TextFile[],
  exists: (name: string) => boolean,
): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return undefined;
  const [name = "", anchor] = decodeURI(link).split("#");
  const target = name === "" ? file.path : path.posix.join(path.posix.dirname(file.path), name);
  if (target.startsWith("..") || !exists(target)) return `${link} leads nowhere`;
  const document = documents.find((candidate) => candidate.path === target);
  if (anchor === undefined || document === undefined) return undefined;
  return headingAnchors(document).has(anchor) ? undefined : `${link}: ${target} has no such heading`;
}

/** The anchors that GitHub gives to headings. */
function headingAnchors(document: TextFile): Set<string> {
  const anchors = new Set<string>();
  for (const match of blankFences(document.text).matchAll(/^#{1,6}\s+(.+?)\s*$/gm)) {
    const base = (match[1] ?? "")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
    let anchor = base;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${base}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

function commandProblems(file: TextFile, commands: Commands): string[] {
  return [...file.text.matchAll(/^```(?:sh|bash|shell)\n([\s\S]*?)^```/gm)].flatMap((block) =>
    [...(block[1] ?? "").matchAll(/^.*$/gm)].flatMap((line) => {
      const problem = commandProblem(line[0], commands);
      const offset = block.index + block[0].indexOf("\n") + 1 + line.index;
      return problem === undefined ? [] : [`${file.path}:${lineAt(file.text, offset)}: ${problem}`];
    }),
  );
}

/** Reads `[NAME=value …] [npx --yes] pnpm[@12] <word> …` and `ingle <word> …`; anything else is not ours. */
function commandProblem(line: string, commands: Commands): string | undefined {
  const call = /^\s*(?:\$ )?(?:\w+=\S+ )*(?:(?:npx --yes )?pnpm(?:@\d+)? |(?=ingle ))([a-z].*)$/.exec(line);
  if (call === null) return undefined;
  const [program = "", command = ""] = (call[1] ?? "").split(/\s+/);
  if (program === "ingle") {
    const isKnown = !/^[a-z]/.test(command) || commands.ingle.has(command);
    return isKnown ? undefined : `ingle has no command "${command}"`;
  }
  const isKnown = [pnpmCommands, commands.scripts, commands.programs].some((names) => names.has(program));
  return isKnown ? undefined : `package.json has no script "${program}"`;
}

function readCommands(files: readonly TextFile[]): Commands {
  const manifest: unknown = JSON.parse(files.find((file) => file.path === "package.json")?.text ?? "{}");
  const scripts =
    typeof manifest === "object" && manifest !== null ? Reflect.get(manifest, "scripts") : undefined;
  const commandLine = files.filter((file) => file.path.startsWith("packages/server/src/cli/"));
  return {
    scripts: new Set(Object.keys(scripts ?? {})),
    programs: new Set(readdirSync(path.join(root, "node_modules/.bin"))),
    ingle: new Set(commandLine.flatMap((file) => commandNames(file.text))),
  };
}

/** Command names in calls of commander, `.command("serve")` and `new Command("serve")`, and of the table of commands, `add("serve", …)`. */
function commandNames(text: string): string[] {
  return [...text.matchAll(/(?:\.command|\bCommand|\badd)\(\s*["'`]([a-z]+)/g)].map(
    (match) => match[1] ?? "",
  );
}

function blankFences(text: string): string {
  return text.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, (block) => block.replaceAll(/[^\n]/g, " "));
}

function blankCode(text: string): string {
  return blankFences(text).replaceAll(/`[^`\n]*`/g, (code) => " ".repeat(code.length));
}
