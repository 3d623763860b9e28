import { describe, expect, it } from "vitest";
import {
  agoText,
  byteRateText,
  bytesText,
  countText,
  durationText,
  rateText,
  roundCountText,
  shareText,
} from "./localized.ts";

describe("sizes", () => {
  it.each([
    [0, "0 B"],
    [1, "1 B"],
    [1023, "1,023 B"],
    [1024, "1 KiB"],
    [322_591_712, "308 MiB"],
    [1024 ** 3 - 1, "1,024 MiB"],
    [99.96 * 1024 ** 3, "100 GiB"],
    [5_046_586_573, "4.7 GiB"],
    [3 * 1024 ** 5, "3 PiB"],
  ])("formats %d bytes as %s", (bytes, text) => {
    expect(bytesText(bytes, "en")).toBe(text);
  });

  it("uses the decimal mark of the language", () => {
    expect(bytesText(5_046_586_573, "de")).toBe("4,7 GiB");
  });

  it("formats a speed as a size per second", () => {
    expect(byteRateText(12.34 * 1024 ** 2, "en")).toBe("12.3 MiB/s");
  });
});

describe("counts and rates", () => {
  it("group digits", () => {
    expect(countText(131_072, "en")).toBe("131,072");
    expect(countText(131_072, "de")).toBe("131.072");
  });

  it("shortens large counts", () => {
    expect(roundCountText(1_234_567, "en")).toBe("1.2M");
    expect(roundCountText(999, "en")).toBe("999");
  });

  it("have one decimal below 100", () => {
    expect(rateText(7.25, "en")).toMatch(/^7\.[23]$/);
    expect(rateText(99.96, "en")).toBe("100");
    expect(rateText(0, "en")).toBe("0.0");
  });

  it("formats shares as whole percents", () => {
    expect(shareText(0.256, "en")).toBe("26%");
  });
});

describe("times", () => {
  it.each([
    [0.44, "0.4 s"],
    [9.96, "10 s"],
    [12.4, "12 s"],
    [59.6, "1 min 0 s"],
    [185, "3 min 5 s"],
    [7_800, "2 h 10 min"],
  ])("formats %d seconds as %s", (seconds, text) => {
    expect(durationText(seconds, "en")).toBe(text);
  });

  const now = 1_800_000_000;
  it.each([
    [0, "now"],
    [-30, "now"],
    [90, "1 minute ago"],
    [3 * 3600 + 5, "3 hours ago"],
    [86_400, "yesterday"],
    [10 * 86_400, "10 days ago"],
    [60 * 86_400, "2 months ago"],
    [730 * 86_400, "2 years ago"],
  ])("formats %d seconds ago as %s", (seconds, text) => {
    expect(agoText(now - seconds, now, "en")).toBe(text);
  });

  it("uses the language", () => {
    expect(agoText(now - 7200, now, "de")).toBe("vor 2 Stunden");
  });
});
