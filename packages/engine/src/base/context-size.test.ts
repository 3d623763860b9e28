import { describe, expect, it } from "vitest";
import { contextSize, contextSizes, largerSizes, leastSize } from "./context-size.ts";

describe("the size of a context", () => {
  it("is the model's own, at most 8,192 tokens a request and 32,768 in all", () => {
    expect(contextSize({ parallel: 8 }, 131_072)).toEqual({ contextLength: 8192, cells: 32_768 });
    expect(contextSize({ parallel: 2 }, 2048)).toEqual({ contextLength: 2048, cells: 4096 });
    expect(contextSize({ parallel: 1, contextLength: 65_536 }, 131_072)).toEqual({
      contextLength: 65_536,
      cells: 65_536,
    });
  });

  it("shrinks for the memory: fewer cells first, then a shorter context, never below 2,048 tokens", () => {
    expect(contextSizes({ parallel: 8 }, 131_072)).toEqual([
      { contextLength: 8192, cells: 32_768 },
      { contextLength: 8192, cells: 16_384 },
      { contextLength: 8192, cells: 8192 },
      { contextLength: 4096, cells: 4096 },
      { contextLength: 2048, cells: 2048 },
    ]);
    expect(contextSizes({ parallel: 1 }, 512)).toEqual([{ contextLength: 512, cells: 512 }]);
  });

  it("keeps what was asked for", () => {
    const sizes = contextSizes({ parallel: 4, contextLength: 4096 }, 8192);
    expect(sizes.map(({ contextLength }) => contextLength)).toEqual([4096, 4096, 4096]);
    expect(contextSizes({ parallel: 4, contextLength: 4096, cells: 9000 }, 8192)).toHaveLength(1);
  });

  it("has cells for every request's whole context and for ended texts where that is the default", () => {
    const hasWholeContexts = true;
    expect(contextSizes({ parallel: 8, hasWholeContexts }, 131_072).slice(0, 3)).toEqual([
      { contextLength: 8192, cells: 10 * 8192 },
      { contextLength: 8192, cells: 5 * 8192 },
      { contextLength: 8192, cells: 20_480 },
    ]);
    expect(contextSize({ parallel: 1, hasWholeContexts }, 2048).cells).toBe(2 * 2048);
    expect(contextSize({ parallel: 8, cells: 9000, hasWholeContexts }, 131_072).cells).toBe(9000);
  });

  it("keeps a whole context for every request that has cells of its own, however short", () => {
    const requested = { parallel: 2, kvUnified: false };
    expect(contextSizes(requested, 8192)).toEqual([
      { contextLength: 8192, cells: 3 * 8192 },
      { contextLength: 4096, cells: 3 * 4096 },
      { contextLength: 2048, cells: 3 * 2048 },
    ]);
    expect(largerSizes(requested, 16_384)).toEqual([{ contextLength: 16_384, cells: 3 * 16_384 }]);
    expect(leastSize(512, requested)).toEqual({ contextLength: 512, cells: 1536 });
  });
});
