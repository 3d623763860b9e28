// Converts the options of device-options.ts for the addon.
import { cpusOf } from "./device-options.ts";
import { invalidRequest } from "./errors.ts";
import type { CheckedLoadOptions } from "./load.ts";
import type { NativeContextOptions, NativeLoadOptions } from "./native.ts";
import { mtpOf } from "./speculation-options.ts";

/** How a model's weights are loaded, except for its projector, its adapters, its workers and a chat template of the caller's. */
export function weightsOptions(
  path: string,
  options: CheckedLoadOptions,
): Omit<NativeLoadOptions, "projector" | "adapters" | "workers"> {
  const { gpuLayers, mmap, mlock, cpuMoeLayers = 0, splitMode = "layer", mainGpu = -1, numa = "" } = options;
  return {
    path,
    gpuLayers: typeof gpuLayers === "number" ? gpuLayers : -1,
    mmap,
    mlock,
    mtp: mtpOf(options) !== "off",
    chatTemplate: "",
    placement: {
      devices: options.devices ?? [],
      cpuMoeLayers,
      tensorOverrides: (options.overrideTensor ?? []).map(tensorOverride),
      splitMode,
      tensorSplit: options.tensorSplit ?? [],
      mainGpu,
      numa,
      checkTensors: options.checkTensors,
      kvOverrides: (options.overrideKv ?? []).map(kvOverride),
    },
  };
}

/** The same for a draft model: on the same devices, but with all layers placed normally and its header unchanged. */
export function draftWeightsOptions(
  path: string,
  options: CheckedLoadOptions,
): ReturnType<typeof weightsOptions> {
  return weightsOptions(path, {
    ...options,
    gpuLayers: options.gpuLayers === 0 ? 0 : "all",
    cpuMoeLayers: undefined,
    overrideTensor: undefined,
    overrideKv: undefined,
  });
}

/** The part of a context's options that concerns devices, processors and positions. */
export function computeOptions(
  options: CheckedLoadOptions & { batchTokens: number },
): Pick<
  NativeContextOptions,
  "ubatchTokens" | "kvOffload" | "cpus" | "cpuStrict" | "priority" | keyof ReturnType<typeof ropeOptions>
> {
  const { batchTokens, ubatchTokens = 0, kvOffload, cpuStrict, priority = 0 } = options;
  if (ubatchTokens > batchTokens)
    throw invalidRequest("ubatchTokens", `must be at most batchTokens, which is ${batchTokens}.`);
  const cpus = Int32Array.from(cpusOf(options));
  return { ubatchTokens, kvOffload, cpus, cpuStrict, priority, ...ropeOptions(options) };
}

/** Zero, -1 and the empty string stand for the values in the model's file. */
function ropeOptions(options: CheckedLoadOptions) {
  const { ropeScale, ropeFreqScale } = options;
  if (ropeScale !== undefined && ropeFreqScale !== undefined)
    throw invalidRequest("ropeScale", "it is 1 / ropeFreqScale; give one of the two.");
  return {
    ropeScaling: options.ropeScaling ?? ("" as const),
    ropeFreqBase: options.ropeFreqBase ?? 0,
    ropeFreqScale: ropeFreqScale ?? (ropeScale === undefined ? 0 : 1 / ropeScale),
    yarnOriginalLength: options.yarnOriginalLength ?? 0,
    yarnExtFactor: options.yarnExtFactor ?? -1,
    yarnAttnFactor: options.yarnAttnFactor ?? -1,
    yarnBetaFast: options.yarnBetaFast ?? -1,
    yarnBetaSlow: options.yarnBetaSlow ?? -1,
  };
}

/** The longest context of a model with these positions. */
export function stretched(contextLengthTrain: number, options: CheckedLoadOptions): number {
  const { ropeFreqScale, ropeScaling } = ropeOptions(options);
  if (ropeScaling === "none" || ropeFreqScale <= 0 || ropeFreqScale >= 1) return contextLengthTrain;
  return Math.min(Math.trunc(contextLengthTrain / ropeFreqScale), 1e9);
}

/** Settings with which a saved state is only valid for models loaded with the same values. */
export function stateOptions(options: CheckedLoadOptions): string {
  return JSON.stringify([ropeOptions(options), options.overrideKv ?? []]);
}

function tensorOverride(text: string): { pattern: string; device: string } {
  const at = text.lastIndexOf("=");
  return { pattern: text.slice(0, at), device: text.slice(at + 1) };
}

function kvOverride(text: string) {
  const [, key = "", type = "", value = ""] = /^([^=]+)=(\w+):(.*)$/s.exec(text) ?? [];
  const types = ["int", "float", "bool", "str"] as const;
  const known = types.find((each) => each === type.toLowerCase());
  if (known === undefined) throw invalidRequest("overrideKv", `${text} has no type.`);
  return { key, type: known, value };
}
