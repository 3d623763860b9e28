import type { CompletionLogprobs } from "@ingle/protocol";
import { describe, expect, it } from "vitest";

import { toPieces, joinPieces, typedPiece, withAlternative } from "./token-pieces.ts";

const logprobs: CompletionLogprobs = {
  tokens: [" Par", "is"],
  token_logprobs: [Math.log(0.5), Math.log(0.25)],
  top_logprobs: [
    { " Lon": Math.log(0.25), " Par": Math.log(0.5), "bytes:\\xf0": Math.log(0.1) },
    { is: Math.log(0.25), ma: Math.log(0.75) },
  ],
  text_offset: [0, 4],
};

describe("toPieces", () => {
  it("makes a piece of each token, with the most likely alternatives first", () => {
    const pieces = toPieces({ text: " Paris", logprobs });
    expect(joinPieces(pieces)).toBe(" Paris");
    expect(pieces.map(({ share }) => share?.toFixed(2))).toEqual(["0.50", "0.25"]);
    expect(pieces[0]?.alternatives.map(({ text }) => text)).toEqual([" Par", " Lon"]);
    expect(pieces[1]?.alternatives.map(({ text }) => text)).toEqual(["ma", "is"]);
  });

  it("keeps a character together that came in parts", () => {
    const parts = { ...logprobs, tokens: ["bytes:\\xf0", "bytes:\\x9f"] };
    expect(toPieces({ text: "🙂", logprobs: parts })).toEqual([typedPiece("🙂")]);
  });

  it("accepts text without probabilities, and chunks without text", () => {
    expect(toPieces({ text: "x", logprobs: null })).toEqual([typedPiece("x")]);
    expect(toPieces({ text: "", logprobs: null })).toEqual([]);
  });
});

describe("withAlternative", () => {
  it("ends the text with the alternative", () => {
    const pieces = [typedPiece("To"), ...toPieces({ text: " Paris", logprobs })];
    const other = withAlternative(pieces, 1, { text: " Lon", share: 0.25 });
    expect(joinPieces(other)).toBe("To Lon");
    expect(other[1]?.alternatives).toHaveLength(2);
  });
});
