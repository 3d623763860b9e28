// Finds the functions of a C++ file and their lengths, by braces alone, without a compiler and without expanding macros: good
// enough to tell which function has grown too long.
import { lineAt } from "./files.ts";

/** A function with a body, or a test case. */
interface CppFunction {
  readonly name: string;
  /** First line of its head, 1-based. */
  readonly line: number;
  /** From the first line of the head to the closing brace, both counted. */
  readonly lines: number;
}

/** Comments, literals and preprocessor lines: anything whose braces do not count. */
const noise = new RegExp(
  [
    String.raw`//[^\n]*`,
    String.raw`/\*[\s\S]*?\*/`,
    String.raw`R"([^(\s]*)\([\s\S]*?\)\1"`,
    String.raw`"(?:\\.|[^"\\\n])*"`,
    String.raw`(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'`,
    String.raw`^[ \t]*#(?:\\\n|[^\n])*`,
  ].join("|"),
  "gm",
);

/** Replaces them with blanks; offsets and lines stay the same. */
function blankNoise(text: string): string {
  return text.replaceAll(noise, (match) => match.replaceAll(/[^\n]/g, " "));
}

/** The outermost functions of a file: a lambda counts as a part of the function around it. */
export function findFunctions(source: string): CppFunction[] {
  const text = blankNoise(source);
  const functions: CppFunction[] = [];
  let headStart = 0;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (char === ";" || char === "}") headStart = i + 1;
    if (char !== "{") continue;
    const head = text.slice(headStart, i);
    if (isContainer(head)) {
      headStart = i + 1;
      continue;
    }
    const end = closingBrace(text, i);
    // `: a_{1}, b_{2} {` and `(Options options = {}) {` are still in the head: the body follows.
    const isInsideHead = /^\s*[,{)]/.test(text.slice(end + 1, end + 100));
    if (!isInsideHead) {
      if (head.includes("(")) functions.push(describe(source, headStart, i, end));
      headStart = end + 1;
    }
    i = end;
  }
  return functions;
}

/** Namespaces, types and `extern "C"` hold functions; everything else with braces is one, or is data. */
function isContainer(head: string): boolean {
  const withoutTemplate = head.replace(/^\s*template\s*<[^{]*?>\s*(?=class|struct|union)/, "");
  return /^\s*(inline\s+)?namespace\b|^\s*extern\s*$|^[^()=]*\b(class|struct|union|enum)\b[^()=]*$/.test(
    withoutTemplate,
  );
}

function closingBrace(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i += 1) {
    if (text[i] === "{") depth += 1;
    if (text[i] === "}") depth -= 1;
    if (depth === 0) return i;
  }
  return text.length - 1;
}

function describe(source: string, headStart: number, open: number, end: number): CppFunction {
  const head = source.slice(headStart, open);
  const label = /^\s*((public|protected|private)\s*:\s*)?/.exec(head)?.[0] ?? "";
  const line = lineAt(source, headStart + label.length);
  const name = /([\w:~]+)\s*\(\s*("[^"]*")?/.exec(head);
  return { name: name?.[2] ?? name?.[1] ?? "?", line, lines: lineAt(source, end) - line + 1 };
}
