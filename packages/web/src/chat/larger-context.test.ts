import { describe, expect, it } from "vitest";

import { largerContext } from "./larger-context.ts";

describe("largerContext", () => {
  it("offers twice as much where it fits", () => {
    expect(largerContext(4_096, 32_768)).toBe(8_192);
  });

  it("offers what fits where that is less", () => {
    expect(largerContext(8_192, 12_500)).toBe(12_288);
  });

  it("offers nothing where there is hardly more", () => {
    expect(largerContext(8_192, 8_192)).toBeNull();
    expect(largerContext(8_192, 8_900)).toBeNull();
    expect(largerContext(8_192, 4_096)).toBeNull();
  });
});
