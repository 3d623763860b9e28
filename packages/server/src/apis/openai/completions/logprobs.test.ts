import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { logprobsWriter } from "./logprobs.ts";

const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const token = (
  text: string | Uint8Array,
  logprob = -1,
  top: { bytes: Uint8Array; logprob: number }[] = [],
) => ({
  id: 0,
  bytes: typeof text === "string" ? toBytes(text) : text,
  logprob,
  top: top.map((one) => ({ id: 0, ...one })),
});

describe("the probabilities of a text completion", () => {
  it("are lists of one length", () => {
    expect(logprobsWriter()([token("He", -0.5), token("llo", -2)])).toEqual({
      tokens: ["He", "llo"],
      token_logprobs: [-0.5, -2],
      top_logprobs: [{ He: -0.5 }, { llo: -2 }],
      text_offset: [0, 2],
    });
  });

  it("have the token itself beside the likeliest, and of two with one text the likelier", () => {
    const top = [
      { bytes: toBytes("a"), logprob: -1 },
      { bytes: toBytes("a"), logprob: -2 },
      { bytes: toBytes("__proto__"), logprob: -3 },
    ];
    const [told] = logprobsWriter()([token("b", -4, top)]).top_logprobs;
    expect(Object.entries(told ?? {})).toEqual([
      ["a", -1],
      ["__proto__", -3],
      ["b", -4],
    ]);
  });

  it("write parts of a character as bytes, at the place where it begins", () => {
    const [first, ...rest] = toBytes("🦆");
    const tokens = [token("ö"), token(Uint8Array.of(first!)), token(Uint8Array.from(rest)), token("!")];
    const { tokens: texts, text_offset } = logprobsWriter()(tokens);
    expect(texts).toEqual(["ö", String.raw`bytes:\xf0`, String.raw`bytes:\x9f\xa6\x86`, "!"]);
    expect(text_offset).toEqual([0, 1, 1, 2]);
  });

  it("are the same in pieces as at once, wherever the text is cut", () => {
    const cuts = fc.array(fc.nat(30), { maxLength: 8 });
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 10 }), cuts, (text, at) => {
        const bytes = toBytes(text);
        const ends = [0, ...at.map((cut) => Math.min(cut, bytes.length)), bytes.length].toSorted(
          (a, b) => a - b,
        );
        const tokens = ends.slice(1).map((end, index) => token(bytes.slice(ends[index], end)));
        const whole = logprobsWriter()(tokens);
        const write = logprobsWriter();
        const pieces = tokens.map((one) => write([one]));
        expect(pieces.flatMap(({ text_offset }) => text_offset)).toEqual(whole.text_offset);
        const { length } = Array.from(text);
        expect(whole.text_offset.every((offset) => offset <= length)).toBe(true);
      }),
    );
  });
});
