// What keys have used within the last day, kept over a restart: otherwise, each restart would begin the day of a limit anew. Written now and
// then and at the end, so that a crash forgets at most half a minute.
import { z } from "zod";
import { StateFile } from "../state-file.ts";
import type { KeyMeters } from "./key-usage.ts";

const saveEveryMs = 30_000;

const KeptUsage = z.strictObject({
  version: z.literal(1),
  /** By the names of keys: tokens, and the Unix milliseconds until which they were counted. */
  days: z.record(z.string(), z.array(z.strictObject({ ends_at: z.number(), tokens: z.int().min(0) }))),
});
type KeptUsage = z.infer<typeof KeptUsage>;

interface KeepOptions {
  /** Called with a sentence if the file cannot be read, and once if it cannot be written; counting goes on. */
  onProblem: (sentence: string) => void;
  /** The monotonic clock of the meters, in milliseconds. */
  clock?: () => number;
  /** The time of day, in milliseconds. */
  now?: () => number;
}

/** Adds what the file has to the meters, and keeps it up to date until it is disposed of, which saves once more. */
export async function keepUsage(
  file: string,
  meters: KeyMeters,
  { onProblem, clock = () => performance.now(), now = () => Date.now() }: KeepOptions,
): Promise<AsyncDisposable> {
  const kept = await StateFile.open<KeptUsage>(file, KeptUsage, { version: 1, days: {} });
  if (kept.problem !== undefined) onProblem(`${kept.problem} What keys have used today counts from now on.`);
  const sinceUnix = now() - clock();
  for (const [name, uses] of Object.entries(kept.current.days))
    meters.of(name).restoreDay(
      uses.map(({ ends_at, tokens }) => ({ endsAt: ends_at - sinceUnix, count: tokens })),
      clock(),
    );
  let last = JSON.stringify(kept.current);
  let hasFailed = false;
  const save = async (): Promise<void> => {
    const next: KeptUsage = { version: 1, days: {} };
    for (const [name, meter] of meters.all) {
      const uses = meter.dayUse(clock());
      if (uses.length === 0) continue;
      next.days[name] = uses.map(({ endsAt, count }) => ({
        ends_at: Math.round(endsAt + sinceUnix),
        tokens: count,
      }));
    }
    const text = JSON.stringify(next);
    if (text === last) return;
    try {
      await kept.change(() => next);
      last = text;
    } catch (error) {
      if (!hasFailed) onProblem(error instanceof Error ? error.message : String(error));
      hasFailed = true;
    }
  };
  const timer = setInterval(() => void save(), saveEveryMs); // never rejects
  timer.unref();
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await save();
    },
  };
}
