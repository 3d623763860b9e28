// Formats our C++ with the pinned clang-format, or checks that it is formatted. A step of check.ts; with
// `--write` the second half of `pnpm format`. llama.cpp's own sources are never touched.
import path from "node:path";
import { fileURLToPath } from "node:url";

import { clangFormatPath } from "clang-format-node";

import { readTextFiles, root, type TextFile } from "./files.ts";
import { run, type Outcome } from "./step.ts";

/** Runs clang-format over packages/engine-native; `write` changes the files, otherwise a difference is a failure. */
export async function clangFormat(
  files: readonly TextFile[],
  { write }: { write: boolean },
): Promise<Outcome> {
  const names = files
    .map((file) => file.path)
    .filter((name) => /^packages\/engine-native\/.*\.(cpp|h)$/.test(name));
  if (names.length === 0) return { ok: true, output: "" };
  const mode = write ? ["-i"] : ["--dry-run", "--Werror"];
  const { ok, output } = await run(clangFormatPath, [...mode, "--style=file", ...names], root);
  return { ok, output: summarize(output) };
}

/** clang-format reports every token that would move; the first of each file is enough. */
function summarize(output: string): string {
  const first = new Map<string, string>();
  const others: string[] = [];
  for (const line of output.split("\n")) {
    const violation = /^(.+?):(\d+):\d+: error: .*-Wclang-format-violations/.exec(line);
    if (violation === null && /: (error|warning): /.test(line)) others.push(line);
    const [, file = "", at = ""] = violation ?? [];
    if (violation !== null && !first.has(file))
      first.set(file, `${file}:${at}: not formatted; run pnpm format`);
  }
  return [...first.values(), ...others].join("\n");
}

if (path.resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  const outcome = await clangFormat(await readTextFiles(), { write: process.argv.includes("--write") });
  if (outcome.output !== "") console.log(outcome.output);
  process.exitCode = outcome.ok ? 0 : 1;
}
