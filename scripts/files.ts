// Reads the repository's own text files for the checks: path from the root, with `/`, and content.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

/** One text file of the repository. */
export interface TextFile {
  /** Path from the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** The repository's root folder. */
export const root = path.dirname(import.meta.dirname);

/** Patches are excluded: their lines are upstream's. */
const textName =
  /\.(ts|tsx|js|mjs|cjs|json|jsonc|cpp|h|cmake|md|ya?ml|toml|sh|css|html)$|(^|\/)(CMakeLists\.txt|run|LICENSE|\.[a-z-]+)$/;

/** Far above the size of git's file list. */
const outputBytesMax = 16 * 1024 * 1024;

/** Lists and reads every text file that git tracks or would track. */
export async function readTextFiles(): Promise<TextFile[]> {
  const { stdout } = await promisify(execFile)(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "-z"],
    { cwd: root, maxBuffer: outputBytesMax },
  );
  const names = stdout.split("\0").filter((name) => textName.test(name));
  const files = await Promise.all(names.map(readTextFile));
  return files.filter((file) => file !== undefined).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Undefined for a file that git still lists but that has been deleted in the working tree. */
async function readTextFile(name: string): Promise<TextFile | undefined> {
  try {
    return { path: name, text: await readFile(path.join(root, name), "utf8") };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** The 1-based line of a character offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i !== -1 && i < offset; i = text.indexOf("\n", i + 1)) line += 1;
  return line;
}

/** The number of lines of a text; a final newline starts no new line. */
export function countLines(text: string): number {
  return text === "" ? 0 : lineAt(text, text.length - 1);
}

/** True for tests and benchmarks, in TypeScript and in C++. */
export function isTest(name: string): boolean {
  return /\.(test|test-d|bench)\.tsx?$|_test\.cpp$|^packages\/[^/]+\/test\//.test(name);
}
