// Converts the options of load() for the addon: how weights are loaded, the context, the engine.
import { createHash } from "node:crypto";
import { checkContextLength, contextSize, type ContextSize } from "../base/context-size.ts";
import { EngineError, invalidRequest } from "../base/errors.ts";
import { defaultThreads } from "../native/default-threads.ts";
import type {
  NativeContextOptions,
  NativeEngineOptions,
  NativeLoadOptions,
  NativeModel,
} from "../native/addon.ts";
import { kvBlockTokens } from "../native/kv-blocks.ts";
import { selectedCpus } from "./device-options.ts";
import { sizesByDevice } from "./device-sizes.ts";
import { keptState } from "./kept-state.ts";
import { kvTypes } from "./kv-cache.ts";
import type { CheckedLoadOptions } from "./load-options.ts";

const checkpointRamDefaultMiB = 256;
const mebibyte = 1024 * 1024;

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
    mtp: mtpMode(options) !== "off",
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
function computeOptions(
  options: CheckedLoadOptions & { batchTokens: number },
): Pick<
  NativeContextOptions,
  "ubatchTokens" | "kvOffload" | "cpus" | "cpuStrict" | "priority" | keyof ReturnType<typeof ropeOptions>
> {
  const { batchTokens, ubatchTokens = 0, kvOffload, cpuStrict, priority = 0 } = options;
  if (ubatchTokens > batchTokens)
    throw invalidRequest("ubatchTokens", `must be at most batchTokens, which is ${batchTokens}.`);
  const cpus = Int32Array.from(selectedCpus(options));
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
export function longestContextLength(contextLengthTrain: number, options: CheckedLoadOptions): number {
  const { ropeFreqScale, ropeScaling } = ropeOptions(options);
  if (ropeScaling === "none" || ropeFreqScale <= 0 || ropeFreqScale >= 1) return contextLengthTrain;
  return Math.min(Math.trunc(contextLengthTrain / ropeFreqScale), 1e9);
}

/** Settings with which a saved state is only valid for models loaded with the same values. */
function stateOptions(options: CheckedLoadOptions): string {
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

/** The number of threads for computation. */
export async function threadCount({ threads, ...options }: CheckedLoadOptions): Promise<number> {
  if (threads !== undefined) return threads;
  const cpus = selectedCpus(options).length;
  return cpus > 0 ? cpus : (await defaultThreads()).threads;
}

/** The native options of a context of this size. */
export async function contextOptions(
  options: CheckedLoadOptions,
  size: ContextSize,
): Promise<NativeContextOptions> {
  const threads = await threadCount(options);
  const { batchTokens = (await sizesByDevice(options)).batchTokens } = options;
  return {
    ...size,
    parallel: options.parallel,
    batchTokens,
    threads,
    threadsBatch: options.threadsBatch ?? threads,
    ...(await kvTypes(options)),
    flashAttention: options.flashAttention,
    kvUnified: nativeKvUnified(options),
    mtp: mtpMode(options),
    ...computeOptions({ ...options, batchTokens }),
  };
}

function nativeKvUnified({ kvUnified }: CheckedLoadOptions): NativeContextOptions["kvUnified"] {
  if (kvUnified === undefined) return "auto";
  return kvUnified ? "on" : "off";
}

export async function engineOptions(
  native: NativeModel,
  modelPath: string,
  options: CheckedLoadOptions,
): Promise<NativeEngineOptions> {
  const contextLengthTrain = longestContextLength(native.info.contextLengthTrain, options);
  checkContextLength(options, contextLengthTrain);
  return {
    ...(await contextOptions(options, contextSize(options, contextLengthTrain))),
    batchTokensBusy: options.batchTokensBusy ?? 0,
    waitingMax: options.waitingMax,
    contextOverflow: options.contextOverflow,
    checkpointBytes: (options.checkpointRamMiB ?? checkpointRamDefaultMiB) * mebibyte,
    ...speculationOptions(native, options),
    ...(await keptState(modelPath, options, stateOptions(options))),
    ...blockReports(options),
  };
}

function blockReports({
  kvBlockSalt,
}: CheckedLoadOptions): Pick<NativeEngineOptions, "kvBlockTokens" | "kvBlockSeed"> {
  if (kvBlockSalt === undefined) return { kvBlockTokens: 0, kvBlockSeed: new Uint8Array(8) };
  return { kvBlockTokens, kvBlockSeed: createHash("sha256").update(kvBlockSalt).digest().subarray(0, 8) };
}

/** Whether the model's layers for multi-token prediction draft. Not over a network. */
function mtpMode({ speculation, draftModel, rpc }: CheckedLoadOptions): NativeContextOptions["mtp"] {
  if (speculation === "mtp") return "on";
  return speculation === undefined && draftModel === undefined && rpc === undefined ? "auto" : "off";
}

/** Throws `invalid_request` for two drafters, and for a model whose drafts cannot be taken back. */
function speculationOptions(
  { info }: NativeModel,
  options: CheckedLoadOptions,
): Pick<NativeEngineOptions, "speculation" | "draftTokens"> {
  const { speculation = "off", draftModel, draftTokens = 0 } = options;
  const param = draftModel === undefined ? "speculation" : "draftModel";
  if (draftModel !== undefined && speculation !== "off") {
    throw new EngineError("invalid_request", `${param}: choose a draft model or speculation, not both.`, {
      details: { param },
    });
  }
  if (!info.rollsBack && (draftModel !== undefined || speculation !== "off")) {
    throw new EngineError(
      "invalid_request",
      `${param}: ${info.architecture} models do not support drafts, because the engine cannot roll back their recurrent state. ` +
        "Leave the option out for this model.",
      { details: { param } },
    );
  }
  if (draftModel !== undefined) return { speculation: "draft-model", draftTokens };
  return { speculation: speculation === "ngram" ? "ngram" : "off", draftTokens };
}
