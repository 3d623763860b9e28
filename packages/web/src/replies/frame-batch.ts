// Gathers what comes in until the next frame: however fast tokens come, the page is drawn once a frame, and less often
// where drawing takes long, so that it stays ready for the person.

/** After a draw, this many times as long as it took is left to everything else. */
const restFactor = 2;

/** While the page is hidden there are no frames; it is kept current all the same, for the others that read it. */
const hiddenMs = 250;

export interface FrameClock {
  now(): number;
  nextFrame(run: () => void): void;
  /** After the frame has been drawn. */
  afterFrame(run: () => void): void;
}

export const pageClock: FrameClock = {
  now: () => performance.now(),
  nextFrame: (run) => {
    if (document.hidden) setTimeout(run, hiddenMs);
    else requestAnimationFrame(run);
  },
  afterFrame: (run) => setTimeout(run),
};

export interface FrameBatch {
  /** Something has come: `apply` runs soon, once. */
  request(): void;
  /** Resolves once everything that has come is applied. */
  settled(): Promise<void>;
  /** Runs `apply` now if it still has something to do, and never again. */
  finish(): void;
}

/** `apply` may leave a part for the next frame: it answers whether it did. */
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
