import { describe, expect, it } from "vitest";
import { controlBytesMax, dataBytesMax, frame, frameHeader, FrameReader, type FrameKind } from "./frames.ts";

/** The frames that a reader reports for these pieces; consecutive data is joined. */
function read(...pieces: Buffer[]): [FrameKind, string][] {
  const frames: [FrameKind, string][] = [];
  const reader = new FrameReader((kind, payload) => {
    const last = frames.at(-1);
    if (kind === "data" && last?.[0] === "data") last[1] += payload.toString("latin1");
    else frames.push([kind, payload.toString("latin1")]);
  });
  for (const piece of pieces) reader.push(piece);
  return frames;
}

describe("frames", () => {
  const bytes = Buffer.concat([
    frame("hello", Buffer.from("{}")),
    frame("ping", Buffer.alloc(0)),
    frame("data", Buffer.from("abcdef")),
    frame("goodbye", Buffer.from("why")),
  ]);
  const whole = [
    ["hello", "{}"],
    ["ping", ""],
    ["data", "abcdef"],
    ["goodbye", "why"],
  ];

  it("are read correctly wherever the network splits them", () => {
    expect(read(bytes)).toEqual(whole);
    expect(read(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
    for (let at = 1; at < bytes.length; at++)
      expect(read(bytes.subarray(0, at), bytes.subarray(at))).toEqual(whole);
  });

  it("are rejected by their header if the kind is unknown or the length exceeds the limit", () => {
    expect(() => read(Buffer.from([9, 0, 0, 0, 1]))).toThrow(RangeError);
    expect(() => read(Buffer.from([0, 0, 0, 0, 0]))).toThrow(RangeError);
    expect(() => read(frameHeader("hello", controlBytesMax + 1))).toThrow(RangeError);
    expect(() => read(frameHeader("data", dataBytesMax + 1))).toThrow(RangeError);
    expect(read(frameHeader("data", dataBytesMax))).toEqual([]);
  });
});
