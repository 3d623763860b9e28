import { expect, it } from "vitest";
import { generationOptions, isNumber, optionNames } from "./generation-options.ts";
import { numberRule, type GenerationOption, type NumberOption } from "./option.ts";
import { samplerLetters, samplerNames, toLetters } from "./samplers.ts";

it("a field is the option's name in snake case", () => {
  const fields = optionNames.map((name) => generationOptions[name].field);
  const names = optionNames.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  expect(fields).toEqual(names);
});

it("no two options share a field, an alias, a flag, or a key of a model's file", () => {
  const options: GenerationOption[] = optionNames.map((name) => generationOptions[name]);
  const fields = options.flatMap(({ field, alias = [] }) => [field, alias].flat());
  const flags = options.flatMap(({ flag = [] }) => flag);
  const keys = options.flatMap(({ ggufKey = [] }) => ggufKey);
  for (const names of [fields, flags, keys]) {
    expect(names.length).toBeGreaterThan(5);
    expect(new Set(names).size).toBe(names.length);
  }
});

it.each(optionNames.filter(isNumber))("the default of %s is within its bounds", (name) => {
  const option: NumberOption = generationOptions[name];
  const { kind, above = -Infinity, min = -Infinity, max = Infinity, default: usual } = option;
  expect(usual > above && usual >= min && usual <= max).toBe(true);
  expect(kind === "number" || Number.isInteger(usual)).toBe(true);
});

it.each(optionNames)("the help of %s is whole sentences", (name) => {
  const { help, fieldNote = help, libraryNote = help }: GenerationOption = generationOptions[name];
  for (const text of [help, fieldNote, libraryNote]) expect(text).toMatch(/^[-A-Z0-9].*[^.]\.$/);
});

it("rules are phrases", () => {
  expect(numberRule(generationOptions.temperature)).toBe("a number of at least 0");
  expect(numberRule(generationOptions.minP)).toBe("a number from 0 to 1");
  expect(numberRule(generationOptions.repeatPenalty)).toBe("a number above 0");
  expect(numberRule(generationOptions.topP)).toBe("a number from 0 to 1");
  expect(numberRule(generationOptions.dryPenaltyLastN)).toBe("an integer from -1 to 4096");
});

it("an order is a string of llama.cpp's letters", () => {
  expect(toLetters(samplerNames)).toBe("edskypmxta");
  expect(toLetters(["xtc", "top_k"])).toBe("xk");
  expect(new Set(Object.values(samplerLetters)).size).toBe(samplerNames.length);
});
