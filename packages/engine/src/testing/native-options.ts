// The addon's simplest options, for programs that call the addon or replace it without the engine.
import type {
  NativeContextOptions,
  NativeEngineOptions,
  NativeLoadOptions,
  NativeRequest,
} from "@ingle/engine-native";

/** Everything but sizes and threads: 16-bit keys and values, positions as in the model's file, any processor. */
export const usualContext = {
  kvTypeK: "f16",
  kvTypeV: "f16",
  flashAttention: "auto",
  kvUnified: "auto",
  mtp: "off",
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

/** Engine options besides those of a context: no drafts, nothing kept in host memory or on disk, no reports. */
export const usualEngine = {
  batchTokensBusy: 0,
  contextOverflow: "length",
  speculation: "off",
  draftTokens: 4,
  cacheRamBytes: 0,
  checkpointBytes: 0,
  stateFile: "",
  stateKey: new Uint8Array(32),
  slotFolder: "",
  kvBlockTokens: 0,
  kvBlockSeed: new Uint8Array(8),
} as const satisfies Partial<NativeEngineOptions>;

/** A model on the CPU, without a projector. */
export function weightsOnCpu(path: string): NativeLoadOptions {
  return {
    path,
    gpuLayers: 0,
    mmap: true,
    mlock: false,
    mtp: false,
    placement: null,
    projector: null,
    adapters: [],
    chatTemplate: "",
    workers: [],
  };
}

/** Always the likeliest token, without penalties. */
export const greedySampling = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repeatPenalty: 1,
  repeatLastN: 0,
  presencePenalty: 0,
  frequencyPenalty: 0,
  seed: 1,
  logitBias: new Float64Array(),
  typicalP: 1,
  topNSigma: 0,
  xtcProbability: 0,
  xtcThreshold: 0.1,
  dynatempRange: 0,
  dynatempExponent: 1,
  dryMultiplier: 0,
  dryBase: 1.75,
  dryAllowedLength: 2,
  dryLastN: 64,
  dryBreakers: [],
  mirostat: 0,
  mirostatTau: 5,
  mirostatEta: 0.1,
  adaptiveTarget: -1,
  adaptiveDecay: 0.9,
  order: "edskypmxta",
  minTokens: 0,
} satisfies NativeRequest["sampling"];
