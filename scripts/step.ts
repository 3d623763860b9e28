// Runs programs for checks, builds and tests: quietly, for their output, or as a step that prints what it does and how long it
// took.
import { spawnSync, spawn } from "node:child_process";
import { root } from "./files.ts";
import { text } from "node:stream/consumers";

/** Time limit: a whole build of llama.cpp takes minutes on two cores, and nothing here takes longer. */
const stepMsMax = 90 * 60_000;

/** Ends the script with a message instead of a stack trace. */
export function stop(sentence: string): never {
  console.error(`\n${sentence}`);
  process.exit(1);
}

/** Runs a program in the repository's root to its end. */
export function step(
  what: string,
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
): void {
  console.log(`\n=== ${what}`);
  const begin = performance.now();
  const { status, signal, error } = spawnSync(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: "inherit",
    timeout: stepMsMax,
  });
  if (status !== 0) stop(`${what}: failed with ${status ?? signal ?? String(error)}.`);
  console.log(`${what}: ok after ${((performance.now() - begin) / 1000).toFixed(0)} s`);
}

/** How a step ended; `output` is shown if it failed. */
export interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

/** Runs a program to its end. Rejects only if it cannot be started. */
export async function run(program: string, args: readonly string[], cwd: string): Promise<Outcome> {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<boolean>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code === 0));
  });
  const [ok, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { ok, output: `${out}${err}`.trim() };
}
