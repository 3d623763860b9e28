import { describe, expect, it } from "vitest";
import { contextStops, loadOptionsOf, nearestStop } from "./load-form.ts";

describe("the stops of the context slider", () => {
  it("double, with one between, up to the longest", () => {
    expect(contextStops(4096, 4096)).toEqual([512, 768, 1024, 1536, 2048, 3072, 4096]);
  });

  it("have the longest and the current length, whatever they are", () => {
    expect(contextStops(5000, 1200)).toEqual([512, 768, 1024, 1200, 1536, 2048, 3072, 4096, 5000]);
  });

  it("are one for a model that has no longer context", () => {
    expect(contextStops(256, 256)).toEqual([256]);
  });

  it("are found by the length that is nearest", () => {
    const stops = contextStops(4096, 4096);
    expect(stops[nearestStop(stops, 1100)]).toBe(1024);
    expect(stops[nearestStop(stops, 99_999)]).toBe(4096);
  });
});

describe("what is ordered", () => {
  it("says only what was chosen", () => {
    expect(loadOptionsOf({ contextLength: null, kvBits: null })).toEqual({});
    expect(loadOptionsOf({ contextLength: 8192, kvBits: 8 })).toEqual({ context_length: 8192, kv_bits: 8 });
  });
});
