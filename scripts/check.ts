// `pnpm check`: everything that can be said about the code without running it, one line per step.
// `pnpm check layers docs` runs only the named steps; `--verbose` adds the files that are over their aim.
import path from "node:path";

import { budgetProblems, filesOverAim } from "./budgets.ts";
import { clangFormat } from "./clang-format.ts";
import { conflictProblems } from "./conflict-markers.ts";
import { docProblems } from "./docs.ts";
import { exportProblems } from "./exports.ts";
import { readTextFiles, root, type TextFile } from "./files.ts";
import { layerProblems } from "./layers.ts";
import { referenceProblems } from "./reference-pages.ts";
import { run, type Outcome } from "./step.ts";
import { wordProblems } from "./words.ts";

interface Step {
  readonly name: string;
  readonly run: (files: readonly TextFile[]) => Promise<Outcome> | Outcome;
}

/** Cheap steps first; lint reads the declarations that types has built. */
const steps: readonly Step[] = [
  { name: "conflicts", run: async () => report(await conflictProblems(root)) },
  { name: "layers", run: (files) => report(layerProblems(files)) },
  { name: "budgets", run: (files) => report(budgetProblems(files)) },
  { name: "exports", run: (files) => report(exportProblems(files)) },
  { name: "docs", run: async (files) => report([...docProblems(files), ...(await referenceProblems())]) },
  { name: "words", run: (files) => report(wordProblems(files)) },
  { name: "format", run: () => tool("oxfmt/bin/oxfmt", "--check") },
  { name: "clang-format", run: (files) => clangFormat(files, { write: false }) },
  { name: "types", run: () => tool("typescript/bin/tsc", "-b") },
  { name: "lint", run: () => tool("oxlint/bin/oxlint", "--type-aware") },
];

function report(problems: readonly string[]): Outcome {
  return { ok: problems.length === 0, output: problems.join("\n") };
}

/** Runs a program of node_modules with this Node: no shell and no platform's wrapper scripts. */
function tool(name: string, ...args: string[]): Promise<Outcome> {
  return run(process.execPath, [path.join(root, "node_modules", name), ...args], root);
}

async function runStep(step: Step, files: readonly TextFile[]): Promise<boolean> {
  const start = performance.now();
  const { ok, output } = await step.run(files);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${step.name.padEnd(14)}${seconds.padStart(6)} s  ${ok ? "ok" : "failed"}`);
  if (!ok) console.log(output.replaceAll(/^/gm, "    "));
  return ok;
}

async function check(args: readonly string[]): Promise<boolean> {
  const names = args.filter((arg) => !arg.startsWith("-"));
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) throw new Error(`No step is called ${unknown.join(", ")}.`);
  const files = await readTextFiles();
  const chosen = steps.filter((step) => names.length === 0 || names.includes(step.name));
  let ok = true;
  for (const step of chosen) ok = (await runStep(step, files)) && ok;
  if (args.includes("--verbose")) console.log(["over their aim:", ...filesOverAim(files)].join("\n    "));
  return ok;
}

process.exitCode = (await check(process.argv.slice(2))) ? 0 : 1;
