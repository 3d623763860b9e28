import { describe, expect, it } from "vitest";
import { BenchError } from "../bench-error.ts";
import type { StreamRecord } from "../stream-record.ts";
import { measureRhythm } from "./vision.ts";

function record(sentAtMs: number, arrivalsMs: number[]): StreamRecord {
  const counts = { completionTokens: 0, promptTokens: 0, reusedTokens: 0, computedTokens: 0 };
  const endedAtMs = arrivalsMs.at(-1) ?? Number.NaN;
  return { sentAtMs, arrivalsMs, endedAtMs, text: "", hasLeft: true, ...counts };
}

/** One piece every 10 ms from 0 on; the stream is steady after 16; one piece takes longer than the others. */
function stream({ slowAt, slowMs, pieces = 101 }: { slowAt: number; slowMs: number; pieces?: number }) {
  const times = Array.from(
    { length: pieces },
    (_, index) => 10 * index + (index > slowAt / 10 ? slowMs - 10 : 0),
  );
  return record(-50, times);
}

const pictures = [record(500, [700, 710]), record(505, [800, 810])];

describe("measureRhythm", () => {
  it("separates the gaps beside the images from those before", () => {
    const { values } = measureRhythm(pictures, [
      stream({ slowAt: 300, slowMs: 15 }),
      stream({ slowAt: 600, slowMs: 60 }),
    ]);
    expect(values).toMatchObject({
      longestGapMs: 60,
      longestGapBeforeMs: 15,
      longestGapRatio: 4,
      ttftP50Ms: 247.5,
      ttftMaxMs: 295,
    });
  });

  it("counts a gap in full that reaches into their time", () => {
    const { values } = measureRhythm(pictures, [stream({ slowAt: 490, slowMs: 80 })]);
    expect(values).toMatchObject({ longestGapMs: 80, longestGapBeforeMs: 10 });
    const late = measureRhythm(pictures, [stream({ slowAt: 790, slowMs: 90 })]);
    expect(late.values).toMatchObject({ longestGapMs: 90 });
  });

  it("does not count how the streams began, nor how they went on afterwards", () => {
    const begin = measureRhythm(pictures, [stream({ slowAt: 50, slowMs: 200, pieces: 121 })]);
    expect(begin.values).toMatchObject({ longestGapMs: 10, longestGapBeforeMs: 10 });
    const end = measureRhythm(pictures, [stream({ slowAt: 900, slowMs: 500 })]);
    expect(end.values).toMatchObject({ longestGapMs: 10 });
  });

  it("refuses figures of streams that ended too early", () => {
    expect(() => measureRhythm(pictures, [stream({ slowAt: 0, slowMs: 10, pieces: 70 })])).toThrow(
      BenchError,
    );
  });
});
