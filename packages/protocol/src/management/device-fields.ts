// The settings of a load request for devices and processors; the names are llama-server's. The engine, which knows the machine,
// checks patterns, names and their combinations.
import { z } from "zod";

import { integerField, optionalField } from "../fields/field.ts";

const listMax = 64;
const textLengthMax = 512;

function text(name: string) {
  return z.string(`${name} must be a text`).min(1).max(textLengthMax);
}

function texts(name: string, max: number = listMax) {
  return z.array(text(name), `${name} must be a list of texts`).min(1).max(max);
}

function number(name: string, { min, max }: { min: number; max: number }) {
  const rule = `${name} must be a number from ${min} to ${max}`;
  return z.number(rule).min(min, rule).max(max, rule);
}

function toggle(name: string) {
  return z.boolean(`${name} must be true or false`);
}

function oneOf<const Choices extends readonly [string, ...string[]]>(name: string, choices: Choices) {
  return z.enum(choices, `${name} must be ${choices.map((choice) => JSON.stringify(choice)).join(" or ")}`);
}

const layersMax = 65_536;
const factorMax = { min: 0, max: 1e6 };

export const deviceFields = {
  device: optionalField(
    texts("device", 16),
    "Devices that may hold layers, or `none` for the processor alone.",
  ),
  gpu_layers: optionalField(
    z.union(
      [oneOf("gpu_layers", ["auto", "all"]), integerField("gpu_layers", { min: 0, max: layersMax })],
      'gpu_layers must be a number of layers, "auto" or "all"',
    ),
    "Layers on GPUs: a number, `all`, or `auto` for as many as fit.",
  ),
  n_cpu_moe: optionalField(
    integerField("n_cpu_moe", { min: 0, max: layersMax }),
    "The number of layers whose experts stay in the machine's memory.",
  ),
  override_tensor: optionalField(
    texts("override_tensor"),
    "`pattern=device`: tensors whose names match the regular expression go to that device, or to `CPU`.",
  ),
  split_mode: optionalField(oneOf("split_mode", ["layer", "row", "none"]), "How several GPUs share a model."),
  tensor_split: optionalField(
    z
      .array(number("tensor_split", { min: 0, max: 1e9 }))
      .min(1)
      .max(16),
    "Each device's share of the layers.",
  ),
  main_gpu: optionalField(
    integerField("main_gpu", { min: 0, max: 15 }),
    "With `split_mode` `none`: the number of the device that holds the model.",
  ),
  batch_size: optionalField(
    integerField("batch_size", { min: 8, max: 16_384 }),
    "Maximum number of tokens per step.",
  ),
  ubatch_size: optionalField(
    integerField("ubatch_size", { min: 1, max: 16_384 }),
    "Maximum number of tokens computed at once.",
  ),
  threads: optionalField(integerField("threads", { min: 1, max: 512 }), "Threads to compute with."),
  threads_batch: optionalField(
    integerField("threads_batch", { min: 1, max: 512 }),
    "The same for steps of many tokens.",
  ),
  flash_attn: optionalField(oneOf("flash_attn", ["auto", "on", "off"]), "Flash attention."),
  mmap: optionalField(toggle("mmap"), "Whether the file is mapped into memory instead of being read."),
  mlock: optionalField(toggle("mlock"), "Keeps the model in memory."),
  numa: optionalField(
    oneOf("numa", ["distribute", "isolate", "numactl"]),
    "How threads are placed on NUMA nodes.",
  ),
  cpu_mask: optionalField(text("cpu_mask"), "Processors to compute with, as a hexadecimal number."),
  cpu_range: optionalField(text("cpu_range"), "The same as a range, such as `0-3`."),
  cpu_strict: optionalField(toggle("cpu_strict"), "Each thread stays on one of these processors."),
  prio: optionalField(
    integerField("prio", { min: -1, max: 3 }),
    "Priority of the threads: -1 low, 0 normal, 1 medium, 2 high, 3 realtime.",
  ),
  rope_scaling: optionalField(
    oneOf("rope_scaling", ["none", "linear", "yarn"]),
    "How positions are stretched for longer texts.",
  ),
  rope_scale: optionalField(
    number("rope_scale", { min: 1e-6, max: 1e6 }),
    "By how much: 2 doubles the length.",
  ),
  rope_freq_base: optionalField(
    number("rope_freq_base", { min: 0, max: 1e12 }),
    "Base frequency of positions.",
  ),
  rope_freq_scale: optionalField(number("rope_freq_scale", { min: 1e-6, max: 1e6 }), "1 / `rope_scale`."),
  yarn_orig_ctx: optionalField(
    integerField("yarn_orig_ctx", { min: 0, max: 2 ** 28 }),
    "YaRN: the length that the model was trained for.",
  ),
  yarn_ext_factor: optionalField(number("yarn_ext_factor", factorMax), "YaRN: share of extrapolation."),
  yarn_attn_factor: optionalField(number("yarn_attn_factor", factorMax), "YaRN: scale of attention."),
  yarn_beta_fast: optionalField(number("yarn_beta_fast", factorMax), "YaRN: bound of low dimensions."),
  yarn_beta_slow: optionalField(number("yarn_beta_slow", factorMax), "YaRN: bound of high dimensions."),
  kv_offload: optionalField(toggle("kv_offload"), "Whether the KV cache is on the GPUs of its layers."),
  kv_unified: optionalField(
    toggle("kv_unified"),
    "Whether all requests share the KV cells, instead of each having its own.",
  ),
  override_kv: optionalField(
    texts("override_kv"),
    "`key=type:value`: values of the file's header to replace.",
  ),
  check_tensors: optionalField(toggle("check_tensors"), "Checks all weights while loading."),
  checkpoint_ram: optionalField(
    integerField("checkpoint_ram", { min: 0, max: 1_048_576 }),
    "Maximum memory in MiB for saved states of hybrid and recurrent models.",
  ),
};
