// Runs the steps of build and test scripts: each prints what it does and how long it took, and ends the script if it fails.
import { spawnSync } from "node:child_process";

import { root } from "./files.ts";

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
