// Settings of models in other programs' files, as settings that stay: llama-server's presets in INI, and Ollama's Modelfile. Pure.
import { generationOptions, optionNames, type GenerationOption } from "@ingle/generation-options";
import { ModelSettings } from "@ingle/protocol";

/** One setting of one model, as the file has it. */
interface ForeignSetting {
  /** A model's name, or `*`; undefined for the model that the file begins with. */
  model: string | undefined;
  /** Without leading dashes, in lower case, with underscores: `ctx_size`. */
  key: string;
  value: string;
}

/** The same as a setting that stays, or why there is none. */
type Carried =
  | { place: readonly string[]; value: unknown }
  /** The end of a sentence that begins with the setting. */
  | { reason: string };

/** The settings of a file; undefined for a file that is neither. */
export function readForeign(text: string): ForeignSetting[] | undefined {
  if (/^\s*FROM\s+\S/im.test(text)) return readModelfile(text);
  if (/^\s*\[[^\]]+\]\s*$/m.test(text)) return readPresets(text);
  return undefined;
}

/** Sections are models; `;` and `#` begin comments, and a `\` at a line's end continues it. */
function readPresets(text: string): ForeignSetting[] {
  const settings: ForeignSetting[] = [];
  let model: string | undefined;
  for (const line of text.split(/(?<!\\)\r?\n/)) {
    const section = /^\s*\[([^\]]+)\]\s*$/.exec(line)?.[1];
    if (section !== undefined) model = section.trim();
    const [, key, value] = /^\s*([^;#=[\]\s][^=]*?)\s*=\s*([^]*?)\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined && model !== undefined)
      settings.push({ model, key: keyName(key), value: value.replaceAll(/\\\r?\n/g, "\n") });
  }
  return settings;
}

/** `--ctx-size`, `ctx-size` and `LLAMA_ARG_CTX_SIZE` are one key. */
function keyName(key: string): string {
  return key
    .replace(/^-+/, "")
    .replace(/^LLAMA_ARG_/, "")
    .replaceAll("-", "_")
    .toLowerCase();
}

/** Instructions begin lines; texts in three quotes may have several lines. */
function readModelfile(text: string): ForeignSetting[] {
  const instructions =
    /^[ \t]*(FROM|PARAMETER|SYSTEM|TEMPLATE|ADAPTER|MESSAGE|LICENSE|REQUIRES)[ \t]+(?:"""([^]*?)"""|([^\n]*))/gim;
  return [...text.matchAll(instructions)].map(([, instruction = "", quoted, plain = ""]) => {
    const value = quoted ?? unquoted(plain.trim());
    if (instruction.toUpperCase() !== "PARAMETER")
      return { model: undefined, key: instruction.toLowerCase(), value: value.trim() };
    const [, key = "", rest = ""] = /^(\S+)\s*([^]*)$/.exec(value) ?? [];
    return { model: undefined, key: keyName(key), value: unquoted(rest.trim()) };
  });
}

function unquoted(text: string): string {
  return /^"([^]*)"$/.exec(text)?.[1] ?? text;
}

/** Other names of our fields. */
const names: Readonly<Record<string, string>> = {
  c: "context_length",
  ctx_size: "context_length",
  num_ctx: "context_length",
  ngl: "gpu_layers",
  n_gpu_layers: "gpu_layers",
  num_gpu: "gpu_layers",
  t: "threads",
  num_thread: "threads",
  tb: "threads_batch",
  b: "batch_size",
  num_batch: "batch_size",
  ub: "ubatch_size",
  fa: "flash_attn",
  dev: "device",
  sm: "split_mode",
  ts: "tensor_split",
  mg: "main_gpu",
  ot: "override_tensor",
  ncmoe: "n_cpu_moe",
  use_mmap: "mmap",
  use_mlock: "mlock",
  a: "aliases",
  alias: "aliases",
  md: "draft_model",
  model_draft: "draft_model",
  system: "system_prompt",
  reasoning_budget: "thinking_budget_tokens",
  temp: "temperature",
  s: "seed",
  n: "max_tokens",
  predict: "max_tokens",
  n_predict: "max_tokens",
  num_predict: "max_tokens",
  ctk: "cache_type_k",
  ctv: "cache_type_v",
};

/** Why well-known settings have no counterpart. */
const reasons: Readonly<Record<string, string>> = {
  template: "is a Go template; the model's own template in Jinja is used",
  message: "holds example messages, which only a chat itself can have",
  adapter: "names an adapter: `ingle serve --lora-modules` loads it",
  license: "is a text, not a setting",
  requires: "names a version of Ollama",
  from: "names the model",
  model: "names the file: `ingle import` adds it",
  m: "names the file: `ingle import` adds it",
  hf_repo: "names the file: `ingle pull` downloads it",
  hf: "names the file: `ingle pull` downloads it",
  mmproj: "is found beside the model",
  jinja: "is always on",
  load_on_startup: "is what `ingle serve --model` and the app's Server page say",
  version: "is the version of the file",
};

/** The fields of `sampling`. */
export const samplingNames: ReadonlySet<string> = new Set(
  optionNames.flatMap((name) => {
    const option: GenerationOption = generationOptions[name];
    return option.alias === undefined ? [option.field] : [option.field, option.alias];
  }),
);

/** The bits of ggml's types for the KV cache. */
const kvBits: Readonly<Record<string, number>> = { f16: 16, q8_0: 8, q4_0: 4 };

/** What a setting is in ours. */
export function carry({ key, value }: Pick<ForeignSetting, "key" | "value">): Carried {
  const reason = reasons[key];
  if (reason !== undefined) return { reason };
  const name = names[key] ?? key;
  const [, side] = /^cache_type_([kv])$/.exec(name) ?? [];
  if (side !== undefined) {
    const bits = kvBits[value.toLowerCase()];
    if (bits === undefined) return { reason: `is ${value}: the KV cache has 16, 8, 4 or 3 bits` };
    return { place: [`kv_bits_${side}`], value: bits };
  }
  const positive = name.replace(/^no_/, "");
  const place = samplingNames.has(name) ? ["sampling", name] : [positive];
  if (!samplingNames.has(name) && !Object.hasOwn(ModelSettings.shape, positive))
    return { reason: "is no setting of a model in Ingle" };
  const meanings = readings(value).map((each) =>
    positive !== name && typeof each === "boolean" ? !each : each,
  );
  const taken = meanings.find((each) => isTaken(place, each));
  return taken === undefined
    ? { reason: `has a value that Ingle does not take: ${value}` }
    : { place, value: taken };
}

function isTaken([first = "", second]: readonly string[], value: unknown): boolean {
  return ModelSettings.safeParse({ [first]: second === undefined ? value : { [second]: value } }).success;
}

/** What a text may mean. */
function readings(value: string): unknown[] {
  const words: Readonly<Record<string, boolean>> = { true: true, on: true, false: false, off: false };
  const word = words[value.toLowerCase()];
  const list = value.split(/[,;]/).map((each) => each.trim());
  const numbers = list.map(Number);
  return [
    ...(value !== "" && Number.isFinite(Number(value)) ? [Number(value)] : []),
    ...(word === undefined ? [] : [word]),
    value,
    ...(numbers.every(Number.isFinite) ? [numbers] : []),
    list,
  ];
}
