// The settings for devices and processors: their names in requests, in the engine, and as flags.
import type { LoadOptions } from "@ingle/engine";
import type { LoadRequest } from "@ingle/protocol";

/** The engine's name of each setting of a load request. */
const engineNames = {
  device: "devices",
  gpu_layers: "gpuLayers",
  n_cpu_moe: "cpuMoeLayers",
  override_tensor: "overrideTensor",
  split_mode: "splitMode",
  tensor_split: "tensorSplit",
  main_gpu: "mainGpu",
  batch_size: "batchTokens",
  ubatch_size: "ubatchTokens",
  threads: "threads",
  threads_batch: "threadsBatch",
  flash_attn: "flashAttention",
  mmap: "mmap",
  mlock: "mlock",
  numa: "numa",
  cpu_mask: "cpuMask",
  cpu_range: "cpuRange",
  cpu_strict: "cpuStrict",
  prio: "priority",
  rope_scaling: "ropeScaling",
  rope_scale: "ropeScale",
  rope_freq_base: "ropeFreqBase",
  rope_freq_scale: "ropeFreqScale",
  yarn_orig_ctx: "yarnOriginalLength",
  yarn_ext_factor: "yarnExtFactor",
  yarn_attn_factor: "yarnAttnFactor",
  yarn_beta_fast: "yarnBetaFast",
  yarn_beta_slow: "yarnBetaSlow",
  kv_offload: "kvOffload",
  kv_unified: "kvUnified",
  override_kv: "overrideKv",
  check_tensors: "checkTensors",
  checkpoint_ram: "checkpointRamMiB",
} as const satisfies Partial<Record<keyof LoadRequest, keyof LoadOptions>>;

type DeviceFieldName = keyof typeof engineNames;

/** Options of the engine; absent ones are not specified. */
export type DeviceSettings = {
  [Field in DeviceFieldName as (typeof engineNames)[Field]]?: LoadRequest[Field];
};

/** The settings of a request; undefined if it has none. */
export function deviceSettingsOf(request: LoadRequest): DeviceSettings | undefined {
  const settings = Object.entries(engineNames).flatMap(([field, name]) => {
    const value: unknown = Reflect.get(request, field);
    return value === undefined ? [] : [[name, value] as const];
  });
  return settings.length === 0 ? undefined : Object.fromEntries(settings);
}

/** These options as given when the server was started, if any; flags such as `--no-mmap` are their opposites. */
export function usualDeviceSettings(
  engine: DeviceSettings & { noMmap?: boolean; noKvOffload?: boolean; noKvUnified?: boolean },
): DeviceSettings | undefined {
  const names: readonly string[] = Object.values(engineNames);
  const given = Object.entries(engine).filter(([name, value]) => names.includes(name) && value !== undefined);
  const { noMmap, noKvOffload, noKvUnified } = engine;
  const settings = {
    ...Object.fromEntries(given),
    ...(noMmap === true ? { mmap: false } : {}),
    ...(noKvOffload === true ? { kvOffload: false } : {}),
    ...(noKvUnified === true ? { kvUnified: false } : {}),
  };
  return Object.keys(settings).length === 0 ? undefined : settings;
}

/** Whether every requested setting has its current value. */
export function devicesAgree(requested: DeviceSettings, present: DeviceSettings): boolean {
  return Object.entries(requested).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(Reflect.get(present, name)),
  );
}
