// Runs a build tool and shows its progress on a single line. The tool's own output appears only if it fails.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import progress from "cli-progress"; // Node finds no name `Format` in this CommonJS module

/** Number of last lines printed of a failed tool's output: enough for a compiler's messages. */
const shownLinesMax = 500;

/** Without a terminal, a line is printed at this interval. */
const lineEveryMs = 15_000;

/** Parses steps done and total steps from a line of Ninja (`[5/100] Building …`) or Make (`[  5%] Building …`). */
export function stepsIn(line: string): { done: number; total: number } | undefined {
  const ninja = /^\[(\d+)\/(\d+)\]/.exec(line);
  if (ninja !== null) return { done: Number(ninja[1]), total: Number(ninja[2]) };
  const make = /^\[ *(\d+)%\]/.exec(line);
  return make === null ? undefined : { done: Number(make[1]), total: 100 };
}

/** Resolves to whether the tool succeeded. `what` begins the line: "Compiling the engine". */
export async function runWithProgress(
  what: string,
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<boolean> {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const bar = new progress.SingleBar({
    format: `${what} {bar} step {value} of {total}, {percentage} %, {eta_formatted}`,
    // Before the first step is done, the time left is NaN.
    formatTime: (seconds, options, multiple) =>
      Number.isFinite(seconds)
        ? `${progress.Format.TimeFormat(seconds, options, multiple)} left`
        : "time unknown",
    barsize: 24,
    noTTYOutput: true,
    notTTYSchedule: lineEveryMs,
  });
  const shown: string[] = [];
  const read = (line: string): void => {
    shown.push(line);
    if (shown.length > shownLinesMax) shown.shift();
    const steps = stepsIn(line);
    if (steps === undefined) return;
    if (bar.isActive) bar.setTotal(steps.total);
    else bar.start(steps.total, 0);
    bar.update(steps.done);
  };
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", read);
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  bar.stop();
  if (status !== 0) console.error(shown.join("\n"));
  return status === 0;
}
