import { describe, expect, it } from "vitest";

import { keepOpen } from "./reconnect.ts";

type Try = number[] | Error;

/** Runs through the tries and records what happened. */
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

  it("waits longer after each failure, up to a limit", async () => {
    const { waits } = await run(Array.from({ length: 7 }, () => new Error("refused")));
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  it("resets the wait after an event", async () => {
    const { waits } = await run([new Error("refused"), new Error("refused"), [1], new Error("refused")]);
    expect(waits).toEqual([250, 500, 250, 500]);
  });

  it("reports no loss when it is aborted", async () => {
    expect((await run([])).lost).toBe(0);
  });
});
