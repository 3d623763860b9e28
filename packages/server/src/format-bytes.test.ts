import { describe, expect, it } from "vitest";
import { formatBytes } from "./format-bytes.ts";

describe("formatBytes", () => {
  it.each([
    [0, "0 bytes"],
    [1023, "1023 bytes"],
    [1024, "1.0 KiB"],
    [322_591_712, "308 MiB"],
    [1.5 * 1024 ** 3, "1.5 GiB"],
    [5000 * 1024 ** 4, "5000 TiB"],
  ])("writes %i as %s", (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});
