import { describe, expect, it } from "vitest";
import { depthMax, numbersMax, measureShape, valuesMax } from "./json-shape.ts";

const shape = (text: string) => measureShape(new TextEncoder().encode(text));

describe("the shape of a JSON text", () => {
  it.each([
    ["{}", { values: 1, numbers: 0 }],
    ['{"a":1}', { values: 3, numbers: 0 }],
    ["[1, -2.5e3 ,3]", { values: 1, numbers: 3 }],
    ['[true,null,"x"]', { values: 4, numbers: 0 }],
    [String.raw`["a\"[[[","\\",{"b":[1]}]`, { values: 6, numbers: 1 }],
    ['["[1,2,3]"]', { values: 2, numbers: 0 }],
    ['[1,{"a":2},3]', { values: 4, numbers: 2 }],
  ])("of %s is %j", (text, expected) => {
    expect(shape(text)).toEqual(expected);
  });

  it("is one of what is no JSON, too", () => {
    for (const text of ["", "]]]", '"open', '"\\', "{,:", "tru", "[1"])
      expect(shape(text)).toHaveProperty("values");
  });

  it("may have as many values as the limits say, and not one more", () => {
    const values = (count: number) => `[${Array.from({ length: count - 1 }, () => "{}").join()}]`;
    expect(shape(values(valuesMax))).toEqual({ values: valuesMax, numbers: 0 });
    expect(shape(values(valuesMax + 1))).toHaveProperty("message");
    const numbers = (count: number) => `[${"1,".repeat(count - 1)}1]`;
    expect(shape(numbers(numbersMax))).toEqual({ values: 1, numbers: numbersMax });
    expect(shape(numbers(numbersMax + 1))).toHaveProperty("message");
  });

  it("names the fields that are nested too deeply", () => {
    const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    expect(shape(nested(depthMax))).toEqual({ values: depthMax, numbers: 0 });
    expect(shape(nested(depthMax + 1))).toMatchObject({ deepFields: new Set([""]) });
    const fields = String.raw`{"flat":"text","deep":${nested(depthMax)},"short":[],"too":${nested(valuesMax / 2)}}`;
    expect(shape(fields)).toMatchObject({ deepFields: new Set(["deep", "too"]) });
    expect(shape(`{"deep":${nested(depthMax - 1)}}`)).not.toHaveProperty("deepFields");
  });
});
