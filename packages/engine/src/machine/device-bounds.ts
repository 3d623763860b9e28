// The bounds and choices of options about devices and processors. Plain data, with an export of its own: flags have the same ones, and the
// command line's help loads no schema library.

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** ggml's limit. */
export const devicesMax = 16;
/** ggml's limit, for processors too. */
export const threadsMax = 512;

/** More layers than any model has: llama.cpp's limit is 512. */
const layers: Bounds = { min: 0, max: 65_536 };
const threads: Bounds = { min: 1, max: threadsMax };
const scale: Bounds = { min: 1e-6, max: 1e6 };
const factor: Bounds = { min: 0, max: 1e6 };
const stepTokensMax = 16_384;

/** Of numbers. */
export const deviceBounds = {
  gpuLayers: layers,
  cpuMoeLayers: layers,
  mainGpu: { min: 0, max: devicesMax - 1 },
  batchTokens: { min: 8, max: stepTokensMax },
  ubatchTokens: { min: 1, max: stepTokensMax },
  threads,
  threadsBatch: threads,
  priority: { min: -1, max: 3 },
  ropeScale: scale,
  ropeFreqBase: { min: 0, max: 1e12 },
  ropeFreqScale: scale,
  yarnOriginalLength: { min: 0, max: 2 ** 28 },
  yarnExtFactor: factor,
  yarnAttnFactor: factor,
  yarnBetaFast: factor,
  yarnBetaSlow: factor,
  checkpointRamMiB: { min: 0, max: 1_048_576 },
} as const satisfies Record<string, Bounds>;

/** Of names. */
export const deviceChoices = {
  splitMode: ["layer", "row", "none"],
  flashAttention: ["auto", "on", "off"],
  numa: ["distribute", "isolate", "numactl"],
  ropeScaling: ["none", "linear", "yarn"],
} as const;
