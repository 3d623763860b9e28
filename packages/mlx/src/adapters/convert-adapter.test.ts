// Adapters' folders: scales, types and orders of what is written, and everything that is refused.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { aligned, halfBits, getNumber, parseGguf, getString, writeGguf, type GgufValue } from "@ingle/gguf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { readFloats, type FloatType } from "../floats.ts";
import { storedTypes } from "../storage.ts";
import { f32, safetensorsBytes, type TensorBytes } from "../../test/safetensors-bytes.ts";
import { convertAdapter } from "./convert-adapter.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-convert-adapter-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** A llama of one layer: two heads of size 4, one KV head, 16 wide in the feed-forward. */
const sizes = {
  block_count: 1,
  embedding_length: 8,
  feed_forward_length: 16,
  context_length: 128,
  vocab_size: 32,
  "attention.head_count": 2,
  "attention.head_count_kv": 1,
};

async function makeBase(more: Readonly<Record<string, GgufValue>> = {}): Promise<string> {
  const file = path.join(folder, "base.gguf");
  const metadata = new Map<string, GgufValue>([
    ["general.architecture", { type: "string", value: "llama" }],
    ["llama.attention.layer_norm_rms_epsilon", { type: "float32", value: Math.fround(1e-5) }],
    ...Object.entries(sizes).map(([key, value]): [string, GgufValue] => [
      `llama.${key}`,
      { type: "uint32", value },
    ]),
    ...Object.entries(more),
  ]);
  await writeGguf(file, { metadata });
  return file;
}

const layer = "base_model.model.model.layers.0";

/** The pair of a module. Values count up, so that each says where it was. */
function pair(
  module: string,
  [rows, columns]: readonly [number, number],
  rank = 2,
): Record<string, TensorBytes> {
  const counting = (length: number): number[] => Array.from({ length }, (_, index) => index + 1);
  return {
    [`${layer}.${module}.lora_A.weight`]: f32([rank, columns], counting(rank * columns)),
    [`${layer}.${module}.lora_B.weight`]: f32([rows, rank], counting(rows * rank)),
  };
}

interface Written {
  alpha: number | undefined;
  names: string[];
  tensor: (name: string) => { type: string; shape: readonly number[]; values: number[] };
}

interface Given {
  config?: object;
  tensors?: Record<string, TensorBytes>;
  file?: string;
  base?: Readonly<Record<string, GgufValue>>;
}

async function convert({
  config,
  tensors,
  file = "adapter_model.safetensors",
  base,
}: Given): Promise<Written> {
  const settings = { peft_type: "LORA", lora_alpha: 4, ...config };
  await writeFile(path.join(folder, "adapter_config.json"), JSON.stringify(settings));
  const weights = safetensorsBytes(tensors ?? pair("mlp.up_proj", [16, 8]));
  await writeFile(path.join(folder, file), weights);
  const target = path.join(folder, "out.gguf");
  await convertAdapter(folder, target, await makeBase(base));
  const bytes = await readFile(target);
  const header = parseGguf(bytes, { fileBytes: bytes.length });
  expect(getString(header.metadata, "general.type")).toBe("adapter");
  return {
    alpha: getNumber(header.metadata, "adapter.lora.alpha", "float32"),
    names: header.tensors.map(({ name }) => name),
    tensor: (name) => {
      const found = header.tensors.find((tensor) => tensor.name === name);
      if (found === undefined) throw new TypeError(`There is no ${name}.`);
      const type = Object.entries(storedTypes).find(([, { code }]) => code === found.typeCode)?.[0] ?? "";
      const start = aligned(header.bytes) + found.offset;
      const data = bytes.subarray(start, start + found.sizeBytes);
      return { type, shape: found.shape, values: [...readFloats(type as FloatType, Uint8Array.from(data))] };
    },
  };
}

describe("a converted adapter", () => {
  it("has the rows of queries in the order of llama.cpp's llama", async () => {
    const { tensor, names } = await convert({ tensors: pair("self_attn.q_proj", [8, 8]) });
    expect(names).toEqual(["blk.0.attn_q.weight.lora_a", "blk.0.attn_q.weight.lora_b"]);
    expect(tensor("blk.0.attn_q.weight.lora_a")).toMatchObject({ shape: [8, 2] });
    const { shape, values } = tensor("blk.0.attn_q.weight.lora_b");
    expect(shape).toEqual([2, 8]);
    // Rows 0, 2, 1, 3 of each head, two values each.
    expect(values).toEqual([1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16]);
  });

  it("keeps types, and one alpha where ranks differ and alphas do not", async () => {
    const halves = (count: number): Uint8Array =>
      new Uint8Array(new Uint16Array(count).fill(halfBits(0.5)).buffer);
    const half = {
      [`${layer}.self_attn.v_proj.lora_A.weight`]: {
        dtype: "F16" as const,
        shape: [3, 8],
        bytes: halves(24),
      },
      [`${layer}.self_attn.v_proj.lora_B.weight`]: {
        dtype: "F16" as const,
        shape: [4, 3],
        bytes: halves(12),
      },
    };
    const { tensor, alpha } = await convert({ tensors: { ...half, ...pair("mlp.down_proj", [8, 16], 1) } });
    expect(alpha).toBe(4);
    expect(tensor("blk.0.attn_v.weight.lora_b")).toEqual({
      type: "F16",
      shape: [3, 4],
      values: Array(12).fill(0.5),
    });
    expect(tensor("blk.0.ffn_down.weight.lora_b").values).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it("has the scale of rsLoRA", async () => {
    const { alpha } = await convert({ config: { use_rslora: true } });
    expect(alpha).toBe(Math.fround(4 * Math.SQRT2));
  });

  it("has what is left of a module's own alpha in its values", async () => {
    const tensors = { ...pair("self_attn.v_proj", [4, 8]), ...pair("mlp.up_proj", [16, 8]) };
    const { tensor, alpha } = await convert({ config: { alpha_pattern: { "mlp.up_proj": 12 } }, tensors });
    expect(alpha).toBe(4);
    expect(tensor("blk.0.attn_v.weight.lora_b").values.slice(0, 3)).toEqual([1, 2, 3]);
    expect(tensor("blk.0.ffn_up.weight.lora_b").values.slice(0, 3)).toEqual([3, 6, 9]);
  });

  it("is that of a vision model's language model", async () => {
    const entries = Object.entries(pair("mlp.up_proj", [16, 8]));
    const tensors = (prefix: string) =>
      Object.fromEntries(
        entries.map(([name, tensor]) => [name.replace("model.model.layers", prefix), tensor]),
      );
    for (const prefix of ["model.model.language_model.layers", "model.language_model.model.layers"]) {
      const { names } = await convert({ tensors: tensors(prefix) });
      expect(names).toEqual(["blk.0.ffn_up.weight.lora_a", "blk.0.ffn_up.weight.lora_b"]);
    }
  });
});

const mlx = { peft_type: undefined, file: "adapters.safetensors" };
const parameters = { rank: 2, scale: 10 };

describe("refused", () => {
  it.each<[string, Given, string, RegExp]>([
    ["another method", { config: { peft_type: "IA3" } }, "mlx_unsupported", /"IA3"/],
    ["DoRA", { config: { use_dora: true } }, "mlx_unsupported", /use_dora/],
    [
      "modules that replace others",
      { config: { modules_to_save: ["lm_head"] } },
      "mlx_unsupported",
      /modules_to_save/,
    ],
    ["transposed matrices", { config: { fan_in_fan_out: true } }, "mlx_unsupported", /fan_in_fan_out/],
    ["trained biases", { config: { bias: "all" } }, "mlx_unsupported", /bias: all/],
    ["a changed base", { config: { init_lora_weights: "pissa_niter_4" } }, "mlx_unsupported", /pissa/],
    ["expressions", { config: { alpha_pattern: { ".*(q|k)": 2 } } }, "mlx_unsupported", /alpha_pattern/],
    ["no alpha", { config: { lora_alpha: undefined } }, "mlx_malformed", /lora_alpha/],
    ["an alpha of 0, which GGUF reads as none", { config: { lora_alpha: 0 } }, "mlx_malformed", /lora_alpha/],
    [
      "mlx-lm's DoRA",
      { config: { ...mlx, fine_tune_type: "dora", lora_parameters: parameters } },
      "mlx_unsupported",
      /"dora"/,
    ],
    [
      "an alpha of mlx-lm",
      { config: { ...mlx, lora_parameters: { ...parameters, alpha: 16 } } },
      "mlx_unsupported",
      /alpha/,
    ],
    ["no weights", { file: "adapters.safetensors" }, "mlx_missing", /adapter_model\.safetensors/],
    [
      "a missing side",
      { tensors: { [`${layer}.mlp.up_proj.lora_A.weight`]: f32([1, 8], Array(8).fill(1)) } },
      "mlx_missing",
      /matrix B/,
    ],
    [
      "token embeddings",
      { tensors: { "base_model.model.model.embed_tokens.lora_embedding_A": f32([1, 1], [1]) } },
      "mlx_unsupported",
      /token embeddings/,
    ],
    [
      "a whole matrix",
      { tensors: { "base_model.model.lm_head.weight": f32([1, 1], [1]) } },
      "mlx_unsupported",
      /no pair/,
    ],
    ["a layer that is not there", { tensors: pair("self_attn.x_proj", [8, 8]) }, "mlx_unsupported", /x_proj/],
    ["another width", { tensors: pair("mlp.up_proj", [16, 9]) }, "mlx_mismatch", /2 x 9/],
    ["another height", { tensors: pair("mlp.up_proj", [15, 8]) }, "mlx_mismatch", /15 x 2/],
    [
      "NaN",
      {
        tensors: {
          ...pair("mlp.up_proj", [16, 8]),
          [`${layer}.mlp.up_proj.lora_B.weight`]: f32([16, 2], Array(32).fill(NaN)),
        },
      },
      "mlx_malformed",
      /NaN/,
    ],
    [
      "integers",
      {
        tensors: {
          [`${layer}.mlp.up_proj.lora_A.weight`]: { dtype: "I8", shape: [1, 8], bytes: new Uint8Array(8) },
          [`${layer}.mlp.up_proj.lora_B.weight`]: f32([16, 1], Array(16).fill(1)),
        },
      },
      "mlx_unsupported",
      /F16/,
    ],
    [
      "an impossible base",
      { base: { "llama.block_count": { type: "uint32", value: 2 ** 31 } } },
      "mlx_unsupported",
      /num_hidden_layers/,
    ],
    [
      "a base of another family",
      { base: { "general.architecture": { type: "string", value: "bert" } } },
      "mlx_unsupported",
      /bert/,
    ],
  ])("%s, and nothing is left behind", async (_, given, code, message) => {
    await expect(convert(given)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect((await readdir(folder)).filter((name) => name.startsWith("out"))).toEqual([]);
  });

  it("a module that is changed under two names", async () => {
    const own = pair("mlp.up_proj", [16, 8]);
    const again = Object.fromEntries(
      Object.entries(own).map(([name, tensor]) => [
        name.replace("model.model.layers", "model.model.language_model.layers"),
        tensor,
      ]),
    );
    await expect(convert({ tensors: { ...own, ...again } })).rejects.toMatchObject({ code: "mlx_malformed" });
  });
});
