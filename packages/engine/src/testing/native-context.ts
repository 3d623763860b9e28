// The native context options that mean nothing special, for programs that call the addon or stand in for it without the engine.
import type { NativeContextOptions } from "@ingle/engine-native";

/** Everything but sizes and threads: 16-bit keys and values, positions as in the model's file, any processor. */
export const usualContext = {
  kvTypeK: "f16",
  kvTypeV: "f16",
  flashAttention: "auto",
  kvUnified: "auto",
  ubatchTokens: 0,
  kvOffload: true,
  ropeScaling: "",
  ropeFreqBase: 0,
  ropeFreqScale: 0,
  yarnOriginalLength: 0,
  yarnExtFactor: -1,
  yarnAttnFactor: -1,
  yarnBetaFast: -1,
  yarnBetaSlow: -1,
  cpus: new Int32Array(),
  cpuStrict: false,
  priority: 0,
} as const satisfies Partial<NativeContextOptions>;
