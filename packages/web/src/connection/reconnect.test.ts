import { describe, expect, it } from "vitest";

import { keepOpen } from "./reconnect.ts";

type Try = number[] | Error;

/** Runs through the tries, an endless one at last, and tells what happened. */
async function run(tries: Try[]) {
  const stop = new AbortController();
  const heard: number[] = [];
  const waits: number[] = [];
  let lost = 0;
  await keepOpen<number>({
    open: async () => {
      const next = tries.shift();
      if (next === undefined) {
        stop.abort();
        throw new Error("ended by the test");
      }
      if (next instanceof Error) throw next;
      return (async function* () {
        yield* next;
      })();
    },
    onEvent: (event) => heard.push(event),
    onLost: () => {
      lost += 1;
    },
    signal: stop.signal,
    wait: async (milliseconds) => {
      waits.push(milliseconds);
    },
  });
  return { heard, waits, lost };
}

describe("keepOpen", () => {
  it("opens the stream again after it ended", async () => {
    expect(await run([[1, 2], [3]])).toMatchObject({ heard: [1, 2, 3], lost: 2 });
  });

  it("waits longer the longer nobody answers, up to a limit", async () => {
    const { waits } = await run(Array.from({ length: 7 }, () => new Error("refused")));
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  it("waits shortly again once events have come", async () => {
    const { waits } = await run([new Error("refused"), new Error("refused"), [1], new Error("refused")]);
    expect(waits).toEqual([250, 500, 250, 500]);
  });

  it("tells of no loss when it was ended", async () => {
    expect((await run([])).lost).toBe(0);
  });
});
