// @ingle/generation-options: the table of generation options.
export {
  commonOptions,
  generationOptions,
  isNumber,
  moreOptions,
  optionNames,
  tokensMax,
  type NamesOfKind,
  type NumberName,
  type OptionName,
  type OptionTable,
} from "./generation-options.ts";
export {
  numberRule,
  singleMax,
  singleMin,
  type BiasOption,
  type GenerationOption,
  type NumberOption,
  type SamplersOption,
  type TextsOption,
  type WholeOption,
} from "./option.ts";
export type { LogitBias, OptionValues } from "./option-values.ts";
export { samplerLetters, samplerNames, toLetters, type SamplerName } from "./samplers.ts";
