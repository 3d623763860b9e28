import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { TimeLimit } from "./signals.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");
const limitMs = 200;

/** Only the signal is held, as by a download or a stream that waits for it. */
function limited(signal = new AbortController().signal): AbortSignal {
  return new TimeLimit(signal, limitMs).signal;
}

it("ends after its time, although garbage was collected meanwhile", async () => {
  const signals = Array.from({ length: 20 }, () => limited());
  for (let time = 0; time < 3; time += 1) {
    await sleep(20);
    collect();
  }
  await expect.poll(() => signals.filter(({ aborted }) => aborted).length).toBe(signals.length);
  expect(signals[0]?.reason).toMatchObject({ name: "TimeoutError" });
});

it("ends with the other signal and its reason", () => {
  const other = new AbortController();
  const signal = limited(other.signal);
  other.abort(new Error("gone"));
  expect(signal.reason).toEqual(new Error("gone"));
});

it("does not end by time once it is disposed of", async () => {
  const limit = new TimeLimit(new AbortController().signal, 10);
  limit[Symbol.dispose]();
  await sleep(50);
  expect(limit.signal.aborted).toBe(false);
});
