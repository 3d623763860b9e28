import { describe, expect, it } from "vitest";
import { mergeStreams } from "./choice-chunks.ts";

/** Gives one piece, and fails as soon as a second one is asked for. */
async function* failing(): AsyncGenerator<string, void, undefined> {
  yield "a";
  throw new Error("The engine has failed.");
}

describe("several streams as one", () => {
  it("keep an error for whoever reads on, however late that is", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): unknown => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const stream = mergeStreams([failing()]);
      expect(await stream.next()).toEqual({ done: false, value: { index: 0, value: "a" } });
      await new Promise((resolve) => setTimeout(resolve, 20)); // a client that reads slowly
      await expect(stream.next()).rejects.toThrow("The engine has failed.");
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });
});
