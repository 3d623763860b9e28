import { describe, expect, it } from "vitest";
import { controlBytesMax, dataBytesMax, frame, frameHeader, FrameReader, type FrameKind } from "./frames.ts";

/** What a reader tells of these pieces; data of one frame is put together. */
function read(...pieces: Buffer[]): [FrameKind, string][] {
  const told: [FrameKind, string][] = [];
  const reader = new FrameReader((kind, payload) => {
    const last = told.at(-1);
    if (kind === "data" && last?.[0] === "data") last[1] += payload.toString("latin1");
    else told.push([kind, payload.toString("latin1")]);
  });
  for (const piece of pieces) reader.push(piece);
  return told;
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

  it("are the same however the network cuts them", () => {
    expect(read(bytes)).toEqual(whole);
    expect(read(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole);
    for (let at = 1; at < bytes.length; at++)
      expect(read(bytes.subarray(0, at), bytes.subarray(at))).toEqual(whole);
  });

  it("of unknown kinds or too many bytes are refused before anything is kept for them", () => {
    expect(() => read(Buffer.from([9, 0, 0, 0, 1]))).toThrow(RangeError);
    expect(() => read(Buffer.from([0, 0, 0, 0, 0]))).toThrow(RangeError);
    expect(() => read(frameHeader("hello", controlBytesMax + 1))).toThrow(RangeError);
    expect(() => read(frameHeader("data", dataBytesMax + 1))).toThrow(RangeError);
    expect(read(frameHeader("data", dataBytesMax))).toEqual([]);
  });
});
