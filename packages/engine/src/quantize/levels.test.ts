import { expect, it } from "vitest";
import { withQuantization } from "../library/quantization.ts";
import { parseLevel, quantizationLevels } from "./levels.ts";

it("a level is found in upper and lower case and by its short name, and defaults to Q4_K_M", () => {
  expect(parseLevel("iq2_xxs")).toEqual({ name: "IQ2_XXS", fileType: 19, needsImatrix: true });
  expect(parseLevel("q5_k").name).toBe("Q5_K_M");
  expect(parseLevel()).toEqual({ name: "Q4_K_M", fileType: 15, needsImatrix: false });
});

it("an unknown level is refused with the names of all levels", () => {
  for (const wrong of ["", "Q4", "NVFP4", "15"]) {
    expect(() => parseLevel(wrong)).toThrow(quantizationLevels.map(({ name }) => name).join(", "));
  }
});

it("a level replaces the one in a file's name, or is appended to it", () => {
  expect(withQuantization("MiniMind2-Small-f16", "Q4_K_M")).toBe("MiniMind2-Small-Q4_K_M");
  expect(withQuantization("model.BF16.v2", "Q8_0")).toBe("model.Q8_0.v2");
  expect(withQuantization("llama-3-q8_0-fixed-F32", "Q6_K")).toBe("llama-3-q8_0-fixed-Q6_K");
  expect(withQuantization("model", "Q6_K")).toBe("model-Q6_K");
});
