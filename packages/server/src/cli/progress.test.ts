import { describe, expect, it } from "vitest";
import { testWorld } from "../../test/cli-context.ts";
import { startProgress } from "./progress.ts";

describe("progress in a file or a log", () => {
  it("prints the start and then a line for every five percent, at most one per second", () => {
    const { context, err, clock } = testWorld();
    using progress = startProgress("Loading tiny", context);
    for (let percent = 0; percent <= 20; percent += 1) {
      clock.ms += 500;
      progress.update(percent / 100, `${percent} of 100`);
    }
    expect(err()).toBe(
      "Loading tiny …\n" +
        "Loading tiny: 5% (5 of 100)\n" +
        "Loading tiny: 10% (45 s left, 10 of 100)\n" +
        "Loading tiny: 15% (43 s left, 15 of 100)\n" +
        "Loading tiny: 20% (40 s left, 20 of 100)\n",
    );
  });

  it("is silent after the start when the work takes less than a second", () => {
    const { context, err, clock } = testWorld();
    using progress = startProgress("Loading tiny", context);
    for (let percent = 0; percent <= 100; percent += 1) {
      clock.ms += 9;
      progress.update(percent / 100);
    }
    expect(err()).toBe("Loading tiny …\n");
  });

  it("prints a line at least every five seconds while there is progress", () => {
    const { context, err, clock } = testWorld();
    using progress = startProgress("Loading tiny", context);
    for (let step = 1; step <= 12; step += 1) {
      clock.ms += 1000;
      progress.update(step / 1000);
    }
    expect(err().match(/Loading tiny: \d+%/g)).toHaveLength(2);
  });
});

describe("progress on a terminal", () => {
  it("says how long the rest takes, at the speed since it began", () => {
    const { context, err, clock } = testWorld({ isTTY: true });
    const progress = startProgress("Loading tiny", context);
    progress.update(0.5); // a resumed download
    clock.ms += 1000;
    progress.update(0.55);
    expect(err()).not.toContain("left");
    clock.ms += 3000;
    progress.update(0.6, "60 of 100");
    progress[Symbol.dispose]();
    expect(err()).toContain("60% 16 s left, 60 of 100");
  });

  it("draws a bar and removes it at the end", () => {
    const { context, err } = testWorld({ isTTY: true });
    const progress = startProgress("Loading tiny", context);
    progress.update(0.5, "half");
    progress[Symbol.dispose]();
    expect(err()).toContain("Loading tiny [");
    expect(err()).toContain("50% half");
    expect(err()).not.toContain("\n");
    expect(err().endsWith("\u001B[2K") || err().endsWith("\u001B[0G\u001B[2K")).toBe(true);
  });
});
