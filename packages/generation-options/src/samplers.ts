// The samplers and their order.

/** llama.cpp's letter of each sampler, in the order in which they are applied by default. */
export const samplerLetters = {
  penalties: "e",
  dry: "d",
  top_n_sigma: "s",
  top_k: "k",
  typical_p: "y",
  top_p: "p",
  min_p: "m",
  xtc: "x",
  temperature: "t",
  adaptive_p: "a",
} as const;
export type SamplerName = keyof typeof samplerLetters;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a constant
export const samplerNames = Object.keys(samplerLetters) as [SamplerName, ...SamplerName[]];

/** An order as one string, as llama.cpp takes it. */
export function toLetters(samplers: readonly SamplerName[]): string {
  let letters = "";
  for (const name of samplers) letters += samplerLetters[name];
  return letters;
}
