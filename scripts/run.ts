// Runs a program and collects its output.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

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
