import { expect, it } from "vitest";
import { toToolOutput, withinLimits, type ToolOutputPart } from "./tool-output.ts";

const texts = (...written: string[]): ToolOutputPart[] => written.map((text) => ({ type: "text", text }));

it("cuts the text of all parts together", () => {
  const output = { content: texts("four", "five5", "six"), isError: false };
  const limits = { resultCharacters: 6, resultImages: 0 };
  expect(withinLimits(output, limits).content).toEqual(
    texts("four", "fi", "[Cut: the result has 12 characters, of which these are the first 6.]"),
  );
  expect(withinLimits(output, { ...limits, resultCharacters: 12 })).toEqual(output);
});

it("returns structured content only where there is no other", () => {
  const structuredContent = { degrees: 21 };
  expect(toToolOutput({ content: [], structuredContent }).content).toEqual(texts('{"degrees":21}'));
  const both = toToolOutput({ content: [{ type: "text", text: "warm" }], structuredContent });
  expect(both).toEqual({ content: texts("warm"), isError: false });
});
