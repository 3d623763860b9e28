// Keeps one stream of events open: opens it again after it broke, sooner when there is reason to hope.

/** Waits before the next try: quick at first, for a server that only restarts. */
const waitsMs = [250, 500, 1_000, 2_000, 4_000];

export interface Reconnection<Event> {
  /** Opens the stream; what it throws counts as not reachable. */
  open: (signal: AbortSignal) => Promise<AsyncIterable<Event>>;
  onEvent: (event: Event) => void;
  /** After it broke or could not be opened, each time. */
  onLost: (error: unknown) => void;
  signal: AbortSignal;
  /** Resolves after that time or when something suggests to try at once. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Runs until the signal ends it. The waits begin anew after each event that came. */
export async function keepOpen<Event>({
  open,
  onEvent,
  onLost,
  signal,
  wait,
}: Reconnection<Event>): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const event of await open(signal)) {
        failures = 0;
        onEvent(event);
      }
      if (!signal.aborted) onLost(new Error("the stream of events ended"));
    } catch (error) {
      if (signal.aborted) return;
      onLost(error);
    }
    await wait(waitsMs[Math.min(failures, waitsMs.length - 1)] ?? 0, signal);
    failures += 1;
  }
}
