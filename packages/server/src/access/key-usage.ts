// What each key has used, and whether that leaves room for another request. Tokens count when the engine reports them, so a request that
// was admitted is never cut: one that goes over a limit delays the next ones.
import type { KeyTerms, KeyUsage } from "@ingle/protocol";
import { WireError } from "../wire-error.ts";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Seconds until a client should retry that has too many requests in flight: about one short completion. */
const retryAfterSeconds = 2;

interface Bucket {
  endsAt: number;
  count: number;
}

/** What was counted within the last so many milliseconds, to the accuracy of a bucket. */
class SlidingSum {
  readonly #spanMs: number;
  readonly #bucketMs: number;
  /** Oldest first. */
  readonly #buckets: Bucket[] = [];
  #sum = 0;

  constructor({ spanMs, bucketMs }: { spanMs: number; bucketMs: number }) {
    this.#spanMs = spanMs;
    this.#bucketMs = bucketMs;
  }

  add(count: number, now: number): void {
    this.#forget(now);
    this.#sum += count;
    const newest = this.#buckets.at(-1);
    if (newest !== undefined && now < newest.endsAt) newest.count += count;
    else this.#buckets.push({ endsAt: now + this.#bucketMs, count });
  }

  sum(now: number): number {
    this.#forget(now);
    return this.#sum;
  }

  /** What the sum consists of, oldest first. */
  buckets(now: number): readonly Readonly<Bucket>[] {
    this.#forget(now);
    return this.#buckets;
  }

  /** Adds buckets that are older than all that was counted. */
  restore(older: readonly Bucket[], now: number): void {
    this.#buckets.unshift(...older.map((bucket) => ({ ...bucket })));
    this.#sum += older.reduce((sum, { count }) => sum + count, 0);
    this.#forget(now);
  }

  /** Milliseconds until the sum is below `limit` if nothing is added; 0 if it is now. */
  waitMs(limit: number, now: number): number {
    let left = this.sum(now);
    for (const { endsAt, count } of this.#buckets) {
      if (left < limit) break;
      left -= count;
      if (left < limit) return endsAt + this.#spanMs - now;
    }
    return 0;
  }

  #forget(now: number): void {
    for (;;) {
      const [oldest] = this.#buckets;
      if (oldest === undefined || oldest.endsAt + this.#spanMs > now) return;
      this.#sum -= oldest.count;
      this.#buckets.shift();
    }
  }
}

/** The counts of one key. Times are on one monotonic clock, in milliseconds. */
export class KeyMeter {
  readonly usage: KeyUsage = { requests: 0, prompt_tokens: 0, completion_tokens: 0 };
  readonly #minute = new SlidingSum({ spanMs: minuteMs, bucketMs: secondMs });
  readonly #day = new SlidingSum({ spanMs: dayMs, bucketMs: hourMs / 4 });
  #running = 0;

  /** Admits a request until `leave()`. Throws `rate_limited`, with the seconds until it is worth trying again. */
  enter(terms: KeyTerms, now: number): void {
    const { parallel_requests: parallelMax = Infinity } = terms;
    if (this.#running >= parallelMax)
      throw new WireError(
        "rate_limited",
        `This API key may have ${parallelMax} requests at a time, and has them; try again when one has ended.`,
        { retryAfterSeconds },
      );
    const limits = [
      [this.#day, terms.tokens_per_day, "a day"],
      [this.#minute, terms.tokens_per_minute, "a minute"],
    ] as const;
    for (const [sum, limit, per] of limits) {
      const waitMs = limit === undefined ? 0 : sum.waitMs(limit, now);
      if (waitMs > 0) throw outOfTokens(`${limit?.toLocaleString("en")} tokens ${per}`, waitMs);
    }
    this.#running += 1;
    this.usage.requests += 1;
  }

  leave(): void {
    this.#running -= 1;
  }

  spend(kind: "prompt_tokens" | "completion_tokens", tokens: number, now: number): void {
    if (tokens === 0) return;
    this.usage[kind] += tokens;
    this.#minute.add(tokens, now);
    this.#day.add(tokens, now);
  }

  /** The tokens of the last day, and when they were counted. */
  dayUse(now: number): readonly Readonly<Bucket>[] {
    return this.#day.buckets(now);
  }

  /** Counts tokens of an earlier life of the server. */
  restoreDay(uses: readonly Bucket[], now: number): void {
    this.#day.restore(uses, now);
  }

  /** Of the minute's tokens: how many are left, and how many milliseconds until there are all. */
  minuteLeft(limit: number, now: number): { tokens: number; resetMs: number } {
    return { tokens: Math.max(0, limit - this.#minute.sum(now)), resetMs: this.#minute.waitMs(1, now) };
  }
}

/** Meters by the names of keys, or of the settings that they come from. */
export class KeyMeters {
  readonly #meters = new Map<string, KeyMeter>();

  get all(): ReadonlyMap<string, KeyMeter> {
    return this.#meters;
  }

  of(name: string): KeyMeter {
    const meter = this.#meters.get(name) ?? new KeyMeter();
    this.#meters.set(name, meter);
    return meter;
  }
}

function outOfTokens(limit: string, waitMs: number): WireError {
  const wait = Math.max(1, Math.ceil(waitMs / secondMs));
  return new WireError(
    "rate_limited",
    `This API key has used its ${limit}; try again in ${waitText(wait)}.`,
    {
      retryAfterSeconds: wait,
    },
  );
}

/** "41 seconds", "3 minutes", "24 hours". */
function waitText(seconds: number): string {
  if (seconds < 2 * 60) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  const minutes = Math.round(seconds / 60);
  return minutes < 2 * 60 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}
