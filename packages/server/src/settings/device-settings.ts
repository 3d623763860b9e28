// Settings of the devices and processors that compute a model, and of its positions.
import { deviceBounds, deviceChoices } from "@ingle/engine/device-bounds";
import { flagKinds } from "./setting.ts";

const { text, integer, decimal, toggle } = flagKinds("INGLE_");

/** Names and meanings are llama-server's. */
export const deviceSettings = {
  devices: text("--device <names>", "Devices that hold the model, separated by commas, or none", {
    rule: (rules) => rules.deviceNames,
    details: "`ingle doctor` lists them. See [devices](gpu.md#devices).",
    defaultText: "all GPUs",
  }),
  gpuLayers: text("--gpu-layers <number>", "Layers on GPUs: a number, all, or auto for as many as fit", {
    rule: (rules) => rules.gpuLayers,
    defaultText: "auto",
  }),
  cpuMoeLayers: integer(
    "--n-cpu-moe <layers>",
    "Number of layers, from the first, whose experts stay in host memory",
    {
      ...deviceBounds.cpuMoeLayers,
      defaultText: "as few as [memory](operations.md#memory) requires",
    },
  ),
  overrideTensor: text(
    "--override-tensor <patterns>",
    "Put tensors on other devices: pattern=device, separated by commas",
    {
      rule: (rules) => rules.tensorOverrides,
      details: "A pattern is a regular expression that matches names of tensors; the device may be `CPU`.",
    },
  ),
  splitMode: text("--split-mode <mode>", "How several GPUs share a model", {
    choices: deviceChoices.splitMode,
    defaultText: "layer",
  }),
  tensorSplit: text("--tensor-split <shares>", "Each device's share of the layers, 3,1 for example", {
    rule: (rules) => rules.tensorSplit,
    defaultText: "by free memory",
  }),
  mainGpu: integer("--main-gpu <number>", "Device that holds the model with --split-mode none", {
    ...deviceBounds.mainGpu,
    defaultText: "0",
  }),
  noKvOffload: toggle("--no-kv-offload", "Keep the KV cache in host memory", {
    hasOpposite: true,
    isUnsetByDefault: true,
  }),
  noKvUnified: toggle("--no-kv-unified", "Give each request KV cells of its own for its whole context", {
    hasOpposite: true,
    isUnsetByDefault: true,
    details: "See [the KV cache on a GPU](gpu.md#the-kv-cache-on-a-gpu).",
  }),
};

export const computeSettings = {
  batchTokens: integer("--batch-size <tokens>", "Maximum tokens of one step", {
    ...deviceBounds.batchTokens,
    defaultText: "512; more on [GPUs](gpu.md#devices) with 12 GiB or more",
  }),
  ubatchTokens: integer("--ubatch-size <tokens>", "Maximum tokens computed at once; larger steps are split", {
    ...deviceBounds.ubatchTokens,
    defaultText: "as `--batch-size`",
  }),
  threadsBatch: integer("--threads-batch <number>", "CPU threads for steps of many tokens", {
    ...deviceBounds.threadsBatch,
    defaultText: "as `--threads`",
  }),
  flashAttention: text("--flash-attn <mode>", "Flash attention", {
    choices: deviceChoices.flashAttention,
    default: "auto",
  }),
  noMmap: toggle("--no-mmap", "Read the model's file instead of mapping it into memory", {
    hasOpposite: true,
    isUnsetByDefault: true,
  }),
  mlock: toggle("--mlock", "Keep the model in memory: never swap it out", {
    hasOpposite: true,
    details: "Fails if the system does not let the process lock that much.",
  }),
  numa: text("--numa <strategy>", "How to place threads on a machine with several NUMA nodes", {
    choices: deviceChoices.numa,
    defaultText: "not at all",
  }),
  cpuMask: text("--cpu-mask <mask>", "Processors to compute with, as a hexadecimal bit mask", {
    rule: (rules) => rules.cpuMask,
    defaultText: "all",
  }),
  cpuRange: text("--cpu-range <range>", "Processors to compute with, 0-3 for example", {
    rule: (rules) => rules.cpuRange,
    defaultText: "all",
  }),
  cpuStrict: toggle("--cpu-strict", "Pin each thread to one of these processors", { hasOpposite: true }),
  priority: integer(
    "--prio <number>",
    "Priority of the threads: -1 low, 0 normal, 1 medium, 2 high, 3 realtime",
    {
      ...deviceBounds.priority,
      defaultText: "0",
      details: "Values above 0 need a privilege (`CAP_SYS_NICE` on Linux).",
    },
  ),
  checkTensors: toggle("--check-tensors", "Check all weights for invalid numbers while loading", {
    hasOpposite: true,
  }),
  overrideKv: text(
    "--override-kv <values>",
    "Override values of the file's header: key=type:value, separated by commas",
    {
      rule: (rules) => rules.kvOverrides,
      details: "The types are `int`, `float`, `bool` and `str`.",
    },
  ),
  checkpointRamMiB: integer(
    "--checkpoint-ram <MiB>",
    "Memory for saved states of hybrid and recurrent models; 0 saves none",
    {
      ...deviceBounds.checkpointRamMiB,
      defaultText: "256",
      details: "Their prefixes are shared only where a state was saved.",
    },
  ),
};

export const positionSettings = {
  ropeScaling: text("--rope-scaling <method>", "How positions are stretched for longer texts", {
    choices: deviceChoices.ropeScaling,
    defaultText: "the model's own",
  }),
  ropeScale: decimal(
    "--rope-scale <factor>",
    "Factor by which positions are stretched: 2 doubles the length",
    {
      ...deviceBounds.ropeScale,
      defaultText: "the model's own",
    },
  ),
  ropeFreqBase: decimal("--rope-freq-base <number>", "Base frequency of positions", {
    ...deviceBounds.ropeFreqBase,
    defaultText: "the model's own",
  }),
  ropeFreqScale: decimal("--rope-freq-scale <factor>", "1 / --rope-scale", {
    ...deviceBounds.ropeFreqScale,
    defaultText: "the model's own",
  }),
  yarnOriginalLength: integer("--yarn-orig-ctx <tokens>", "YaRN: the length that the model was trained for", {
    ...deviceBounds.yarnOriginalLength,
    defaultText: "the model's own",
  }),
  yarnExtFactor: decimal("--yarn-ext-factor <factor>", "YaRN: share of extrapolation", {
    ...deviceBounds.yarnExtFactor,
    defaultText: "the model's own",
  }),
  yarnAttnFactor: decimal("--yarn-attn-factor <factor>", "YaRN: scale of attention", {
    ...deviceBounds.yarnAttnFactor,
    defaultText: "the model's own",
  }),
  yarnBetaFast: decimal("--yarn-beta-fast <number>", "YaRN: bound of low dimensions", {
    ...deviceBounds.yarnBetaFast,
    defaultText: "the model's own",
  }),
  yarnBetaSlow: decimal("--yarn-beta-slow <number>", "YaRN: bound of high dimensions", {
    ...deviceBounds.yarnBetaSlow,
    defaultText: "the model's own",
  }),
};
