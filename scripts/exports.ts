// Exports that no other file names: a reader takes every export for something that others depend on. A step of check.ts.
import { isTest, lineAt, type TextFile } from "./files.ts";

/** Source code; what has been generated or vendored is not listed by git. */
const codeName = /\.(ts|tsx|js|mjs|cjs)$/;

/** A declaration that is exported where it stands. */
const exportPattern =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum)\s+([A-Za-z_$][\w$]*)/gm;

/** Every export that only its own file names, as `path:line: sentence`. Declarations of a foreign module are its own. */
export function exportProblems(files: readonly TextFile[]): string[] {
  const code = files.filter(({ path }) => codeName.test(path));
  const users = usersByName(code);
  return code
    .filter(({ path }) => /\.tsx?$/.test(path) && !path.endsWith(".d.ts") && !isTest(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(exportPattern)]
        .filter((match) => (users.get(match[1] ?? "")?.size ?? 0) < 2)
        .map(
          (match) =>
            `${path}:${lineAt(text, match.index)}: no other file names ${match[1]}; do not export it, or delete it`,
        ),
    );
}

/** The files in which each identifier stands. */
function usersByName(code: readonly TextFile[]): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>();
  for (const { path, text } of code) {
    for (const [name] of text.matchAll(/[A-Za-z_$][\w$]*/g)) {
      const known = users.get(name);
      if (known === undefined) users.set(name, new Set([path]));
      else known.add(path);
    }
  }
  return users;
}
