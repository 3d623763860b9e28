// Progress of long work on stderr: a bar on a terminal, a few plain lines in a log.
import cliProgress from "cli-progress";
import type { TextOutput } from "./context.ts";
import { formatDuration } from "./text.ts";

/** A bar that is shown until it is disposed. */
export interface Progress extends Disposable {
  /** `fraction` is 0 to 1; `detail` is such as "12 MiB of 308 MiB". */
  update(fraction: number, detail?: string): void;
}

/** A plain line is written every this many percent … */
const linePercents = 5;
/** … but not more often than this … */
const lineIntervalMinMs = 1000;
/** … and at least this often while there is progress, so that slow work does not look stuck. */
const lineIntervalMaxMs = 5000;
/** Before that, an estimate of the remaining time would jump around. */
const estimateAfterMs = 3000;

export function startProgress(title: string, io: { stderr: TextOutput; now: () => number }): Progress {
  return io.stderr.isTTY === true ? startBar(title, io.stderr, io.now) : startLines(title, io.stderr, io.now);
}

function startBar(title: string, stderr: TextOutput, now: () => number): Progress {
  const timeLeft = estimate(now);
  const bar = new cliProgress.SingleBar({
    stream: stderr,
    format: "{title} [{bar}] {percentage}% {about}",
    barsize: 24,
    clearOnComplete: true,
    gracefulExit: false, // shutdown.ts owns the signals; disposal removes the bar
  });
  bar.start(1, 0, { title, about: "" });
  return {
    update: (fraction, detail = "") => {
      const about = [timeLeft(fraction), detail].filter((part) => part !== "").join(", ");
      bar.update(fraction, { about });
    },
    [Symbol.dispose]: () => bar.stop(),
  };
}

/** Estimates the remaining time from the speed since the first fraction, which is not 0 for a resumed download. */
function estimate(now: () => number): (fraction: number) => string {
  let first: { at: number; fraction: number } | undefined;
  return (fraction) => {
    first ??= { at: now(), fraction };
    const elapsedMs = now() - first.at;
    const done = fraction - first.fraction;
    if (elapsedMs < estimateAfterMs || done <= 0 || fraction >= 1) return "";
    return `${formatDuration(((1 - fraction) * elapsedMs) / done)} left`;
  };
}

function startLines(title: string, stderr: TextOutput, now: () => number): Progress {
  let lastPercent = 0;
  let lastAt = now();
  const timeLeft = estimate(now);
  stderr.write(`${title} …\n`);
  return {
    update: (fraction, detail = "") => {
      const left = timeLeft(fraction);
      const percent = Math.floor(fraction * 100);
      const waitedMs = now() - lastAt;
      const isDue = percent - lastPercent >= linePercents && waitedMs >= lineIntervalMinMs;
      if (!isDue && waitedMs < lineIntervalMaxMs) return;
      lastPercent = percent;
      lastAt = now();
      const about = [left, detail].filter((part) => part !== "").join(", ");
      stderr.write(`${title}: ${percent}%${about === "" ? "" : ` (${about})`}\n`);
    },
    [Symbol.dispose]: () => {},
  };
}
