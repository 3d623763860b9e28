import { describe, expect, it } from "vitest";

import { rankByScores } from "./pick-passages.ts";
import { scoreByWords } from "./score-by-words.ts";

const rankByWords = async (passages: readonly string[], question: string) =>
  rankByScores([await scoreByWords(passages, question)]);

describe("scoreByWords", () => {
  it("puts the passage with the rarest words of the question first", async () => {
    const passages = [
      "The harbour is open all year, and the harbour has a crane.",
      "The lighthouse of Skerry has 147 steps.",
      "The ferry is late.",
    ];
    expect((await rankByWords(passages, "How many steps has the lighthouse?"))[0]).toBe(1);
  });

  it("finds inflected and mistyped words, and leaves out passages without any", async () => {
    const passages = ["Die Öffnungszeiten des Hafens", "Ein anderer Absatz", "A lighthouse"];
    expect(await rankByWords(passages, "öffnung")).toEqual([0]);
    expect(await rankByWords(passages, "lighthuse")).toEqual([2]);
    expect(await rankByWords(passages, "")).toEqual([]);
  });

  it("finds words of scripts without spaces", async () => {
    const passages = ["港口全年开放。", "灯塔有一百四十七级台阶。"];
    expect(await rankByWords(passages, "灯塔有多少级台阶？")).toEqual([1]);
  });

  it("stops while it indexes", async () => {
    const passages = Array.from({ length: 10_000 }, (_nothing, at) => `passage ${at}`);
    const stop = new AbortController();
    const scored = scoreByWords(passages, "passage", { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(scored).rejects.toThrow("enough");
  });
});
