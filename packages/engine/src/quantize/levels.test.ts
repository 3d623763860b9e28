import { expect, it } from "vitest";
import { withQuantization } from "../library/quantization.ts";
import { parseLevel, quantizationLevels } from "./levels.ts";

it("knows a level in capitals and small letters, by its short name, and Q4_K_M when nobody says", () => {
  expect(parseLevel("iq2_xxs")).toEqual({ name: "IQ2_XXS", fileType: 19, needsImatrix: true });
  expect(parseLevel("q5_k").name).toBe("Q5_K_M");
  expect(parseLevel()).toEqual({ name: "Q4_K_M", fileType: 15, needsImatrix: false });
});

it("names all levels after a wrong one", () => {
  for (const wrong of ["", "Q4", "NVFP4", "15"]) {
    expect(() => parseLevel(wrong)).toThrow(quantizationLevels.map(({ name }) => name).join(", "));
  }
});

it("puts a level in the place of the one in a name, or at the name's end", () => {
  expect(withQuantization("MiniMind2-Small-f16", "Q4_K_M")).toBe("MiniMind2-Small-Q4_K_M");
  expect(withQuantization("model.BF16.v2", "Q8_0")).toBe("model.Q8_0.v2");
  expect(withQuantization("llama-3-q8_0-fixed-F32", "Q6_K")).toBe("llama-3-q8_0-fixed-Q6_K");
  expect(withQuantization("model", "Q6_K")).toBe("model-Q6_K");
});
