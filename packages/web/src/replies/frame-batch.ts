// Batches updates: however fast tokens arrive, the page renders at most once per frame, and less often if rendering is slow, so that
// it stays responsive.

/** After a render, the page rests for this multiple of the time it took. */
const restFactor = 2;

/** A hidden page has no frames, but is still updated, for other tabs that read its replies. */
const hiddenMs = 250;

export interface FrameClock {
  now(): number;
  nextFrame(run: () => void): void;
  /** Runs after the frame was rendered. */
  afterFrame(run: () => void): void;
}

const pageClock: FrameClock = {
  now: () => performance.now(),
  nextFrame: (run) => {
    if (document.hidden) setTimeout(run, hiddenMs);
    else requestAnimationFrame(run);
  },
  afterFrame: (run) => setTimeout(run),
};

interface FrameBatch {
  /** Schedules one call of `apply`. */
  request(): void;
  /** Resolves when nothing is scheduled any more. */
  settled(): Promise<void>;
  /** Runs a scheduled `apply` now, and ignores later requests. */
  finish(): void;
}

/** `apply` returns whether it has left something for the next frame. */
export function createFrameBatch(apply: () => boolean, clock: FrameClock = pageClock): FrameBatch {
  let state: "idle" | "requested" | "finished" = "idle";
  let earliest = 0;
  let waiting: (() => void)[] = [];
  const settle = () => {
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  const request = () => {
    if (state !== "idle") return;
    state = "requested";
    clock.nextFrame(frame);
  };
  const frame = () => {
    if (state !== "requested") return;
    const start = clock.now();
    if (start < earliest) {
      clock.nextFrame(frame);
      return;
    }
    state = "idle";
    if (apply()) request();
    else settle();
    clock.afterFrame(() => {
      const end = clock.now();
      earliest = end + (end - start) * restFactor;
    });
  };
  return {
    request,
    settled: () =>
      new Promise((resolve) => {
        if (state === "requested") waiting.push(resolve);
        else resolve();
      }),
    finish() {
      if (state === "requested") apply();
      state = "finished";
      settle();
    },
  };
}
