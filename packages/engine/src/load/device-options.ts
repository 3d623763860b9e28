// The options for devices and processors, for reading the model's file, and for replacing values of its header. This file has its
// own export: the command line checks its flags with it before it loads the engine.
import { z } from "zod";
import {
  deviceBounds,
  deviceChoices,
  devicesMax,
  threadsMax,
  type Bounds,
} from "../machine/device-bounds.ts";

/** The addon's limit: each pattern is compared with every tensor, each key with every value of the header. */
const overridesMax = 64;

const integer = ({ min, max }: Bounds) => z.int().min(min).max(max).optional();
const number = ({ min, max }: Bounds) => z.number().min(min).max(max).optional();

export const GpuLayers = z.union(
  [z.literal(["auto", "all"]), integer(deviceBounds.gpuLayers).unwrap()],
  'must be a number of layers, "auto" or "all"',
);

export const DeviceNames = z
  .array(z.string().regex(/^[\w.:[\]-]{1,64}$/, "must be names that `ingle doctor` lists, or none"))
  .min(1, "must name a device, or none")
  .max(devicesMax);

export const TensorOverrides = z
  .array(
    z
      .string()
      .regex(
        /^[^\s=]{1,256}=[\w.:[\]-]{1,64}$/,
        "must be pattern=device, such as exps=CPU, in 256 characters",
      ),
  )
  .max(overridesMax);

/** As in llama.cpp: `llama.expert_used_count=int:4`. Strings have at most 127 characters there. */
export const KvOverrides = z
  .array(
    z
      .string()
      .regex(
        /^[a-z0-9_.-]{1,127}=(?:int:-?\d{1,18}|float:-?\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,2})?|bool:(?:true|false)|str:[^\0]{0,127})$/i,
        "must be key=type:value with the type int, float, bool or str",
      ),
  )
  .max(overridesMax);

export const TensorSplit = z
  .array(z.number("must be numbers").min(0).max(1e9))
  .min(1)
  .max(devicesMax)
  .refine((shares) => shares.some((share) => share > 0), "must have a number above 0");

export const CpuMask = z
  .string()
  .regex(
    /^(?:0x)?(?=.*[1-9a-f])[0-9a-f]{1,128}$/i,
    "must be a hexadecimal number in which each bit stands for a processor",
  );

export const CpuRange = z.string().refine((text) => {
  const [, low = "", high = ""] = /^(\d{1,3})-(\d{1,3})$/.exec(text) ?? [];
  return low !== "" && Number(low) <= Number(high) && Number(high) < threadsMax;
}, "must be a range such as 0-3");

export const deviceOptions = {
  /**
   * The devices that may hold layers, by the names of `buildInfo()`; `["none"]` computes on the processor. Default: all GPUs, but
   * integrated ones only if there are no others.
   */
  devices: DeviceNames.optional(),
  /**
   * The number of layers on GPUs. `auto`, the default: all with `load()`, and as many as fit with `fitModel()`. `all`: never
   * fewer.
   */
  gpuLayers: GpuLayers.optional(),
  /**
   * The experts of this many layers, counted from the first, stay in host memory: they take most of a model's memory but little
   * of its work.
   */
  cpuMoeLayers: integer(deviceBounds.cpuMoeLayers),
  /** `pattern=device` puts the tensors whose names match the regular expression on that device, or on `CPU`. The first match counts. */
  overrideTensor: TensorOverrides.optional(),
  /** How several GPUs share a model: whole layers, rows of tensors (CUDA), or not at all. Default `layer`. */
  splitMode: z.enum(deviceChoices.splitMode).optional(),
  /** Each device's share of the layers, in the order of `devices`. Default: by their free memory. */
  tensorSplit: TensorSplit.optional(),
  /** With `splitMode: "none"`, the number of the device that holds the model, counted from 0. */
  mainGpu: integer(deviceBounds.mainGpu),
  /** The maximum number of tokens that are computed at once: a step with more is computed in parts. Default `batchTokens`. */
  ubatchTokens: integer(deviceBounds.ubatchTokens),
  /** Threads for steps of many tokens. Default `threads`. */
  threadsBatch: integer(deviceBounds.threadsBatch),
  /** Whether the model's file is mapped into memory instead of being read. Default true. */
  mmap: z.boolean().default(true),
  /**
   * Locks the model in memory, so that the system never swaps it out. Fails if the system does not permit that. Default false.
   */
  mlock: z.boolean().default(false),
  /** How threads are placed on a machine with several NUMA nodes; holds for all models of the process. Default: not at all. */
  numa: z.enum(deviceChoices.numa).optional(),
  /** The processors that compute, as a hexadecimal bit mask or as a range such as `0-3`. Default: all. */
  cpuMask: CpuMask.optional(),
  cpuRange: CpuRange.optional(),
  /** Pins each thread to one of these processors. Default false. */
  cpuStrict: z.boolean().default(false),
  /** How the system schedules the threads: -1 low, 0 normal, 1 medium, 2 high, 3 realtime; above 0 needs a privilege. Default 0. */
  priority: integer(deviceBounds.priority),
  /** How positions are stretched for texts longer than those the model was trained for. Default: as in the model's file. */
  ropeScaling: z.enum(deviceChoices.ropeScaling).optional(),
  /** The factor of the stretching: 2 doubles the length. The same as `1 / ropeFreqScale`. */
  ropeScale: number(deviceBounds.ropeScale),
  ropeFreqBase: number(deviceBounds.ropeFreqBase),
  ropeFreqScale: number(deviceBounds.ropeFreqScale),
  /** YaRN: the length that the model was trained for, and its factors. Default: as in the model's file. */
  yarnOriginalLength: integer(deviceBounds.yarnOriginalLength),
  yarnExtFactor: number(deviceBounds.yarnExtFactor),
  yarnAttnFactor: number(deviceBounds.yarnAttnFactor),
  yarnBetaFast: number(deviceBounds.yarnBetaFast),
  yarnBetaSlow: number(deviceBounds.yarnBetaSlow),
  /** Whether the KV cache and attention are on the GPUs of their layers. Default true. */
  kvOffload: z.boolean().default(true),
  /** Values of the file's header to replace, as `key=type:value` with the type `int`, `float`, `bool` or `str`. */
  overrideKv: KvOverrides.optional(),
  /** Reads all weights while loading, and fails if one of them is not a number. Default false. */
  checkTensors: z.boolean().default(false),
  /**
   * The memory limit, in MiB, for saved states of hybrid and recurrent models, which share a prefix only where one was saved.
   * Other models need none. Default 256.
   */
  checkpointRamMiB: integer(deviceBounds.checkpointRamMiB),
};

/** The processors of a mask, a range or both; empty for all. */
export function selectedCpus({
  cpuMask,
  cpuRange,
}: {
  cpuMask?: string | undefined;
  cpuRange?: string | undefined;
}): number[] {
  const mask = BigInt(cpuMask === undefined ? 0 : `0x${cpuMask.replace(/^0x/i, "")}`);
  const [low = 0, high = -1] = cpuRange?.split("-").map(Number) ?? [];
  const cpus: number[] = [];
  for (let cpu = 0; cpu < threadsMax; cpu += 1) {
    if (((mask >> BigInt(cpu)) & 1n) === 1n || (cpu >= low && cpu <= high)) cpus.push(cpu);
  }
  return cpus;
}
