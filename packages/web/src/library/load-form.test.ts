import { describe, expect, it } from "vitest";
import { contextStops, largerContext, toLoadOptions, nearestStop } from "./load-form.ts";

describe("the stops of the context slider", () => {
  it("double, with one between, up to the longest", () => {
    expect(contextStops(4096, 4096)).toEqual([512, 768, 1024, 1536, 2048, 3072, 4096]);
  });

  it("include the longest and the current length, whatever they are", () => {
    expect(contextStops(5000, 1200)).toEqual([512, 768, 1024, 1200, 1536, 2048, 3072, 4096, 5000]);
  });

  it("are a single one for a model with a short context", () => {
    expect(contextStops(256, 256)).toEqual([256]);
  });

  it("are found by the nearest length", () => {
    const stops = contextStops(4096, 4096);
    expect(stops[nearestStop(stops, 1100)]).toBe(1024);
    expect(stops[nearestStop(stops, 99_999)]).toBe(4096);
  });
});

describe("toLoadOptions", () => {
  it("contains only what was chosen", () => {
    expect(toLoadOptions({ contextLength: null, kvBits: null })).toEqual({});
    expect(toLoadOptions({ contextLength: 8192, kvBits: 8 })).toEqual({ context_length: 8192, kv_bits: 8 });
  });
});

describe("largerContext", () => {
  it("offers twice as much where it fits", () => {
    expect(largerContext(4_096, { max: 32_768, needed: 4_096 })).toBe(8_192);
  });

  it("offers what fits where that is less", () => {
    expect(largerContext(8_192, { max: 12_500, needed: 8_192 })).toBe(12_288);
  });

  it("offers what a long text and its reply need", () => {
    expect(largerContext(1_024, { max: 131_072, needed: 90_444 })).toBe(91_136);
    expect(largerContext(1_024, { max: 90_900, needed: 90_444 })).toBeNull();
  });

  it("offers nothing that the text would not fit into", () => {
    expect(largerContext(1_024, { max: 2_048, needed: 90_444 })).toBeNull();
    expect(largerContext(1_024, { max: 90_444, needed: 90_444 })).toBeNull();
  });

  it("offers nothing where there is hardly more", () => {
    expect(largerContext(8_192, { max: 8_192, needed: 8_192 })).toBeNull();
    expect(largerContext(8_192, { max: 8_900, needed: 8_192 })).toBeNull();
    expect(largerContext(8_192, { max: 4_096, needed: 8_192 })).toBeNull();
  });
});
