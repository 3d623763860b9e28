// The families against the output of llama.cpp's own converter for real models' settings, and against damaged settings.
import { getString, type GgufMetadata } from "@ingle/gguf";
import { describe, expect, it } from "vitest";

import { parseConfig } from "../config.ts";
import { MlxError } from "../errors.ts";
import type { ModelPlan } from "./architecture.ts";
import { findArchitecture } from "./registry.ts";

const NORMS = ["input_layernorm", "post_attention_layernorm"];
const ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"].map((name) => `self_attn.${name}`);
const QUERY_NORMS = ["q_norm", "k_norm"].map((name) => `self_attn.${name}`);
const GATED = ["gate_proj", "up_proj", "down_proj"].map((name) => `mlp.${name}`);

/** The tensor names of these modules in each layer, quantized as MLX writes them, and of these modules outside the layers. */
function names(layers: number, modules: readonly string[], ends: readonly string[]): Set<string> {
  const inLayers = Array.from({ length: layers }, (_, index) =>
    modules.map((module) => `model.layers.${index}.${module}`),
  );
  return new Set(
    [...inLayers.flat(), ...ends].flatMap((module) =>
      module.endsWith("norm")
        ? [`${module}.weight`]
        : [`${module}.weight`, `${module}.scales`, `${module}.biases`],
    ),
  );
}

const TIED = ["model.embed_tokens", "model.norm"];
const LLAMA = [...NORMS, ...ATTENTION, ...GATED];

function plan(config: object, tensors: ReadonlySet<string>): ModelPlan {
  const parsed = parseConfig(config);
  return findArchitecture(parsed).plan(parsed, tensors);
}

/** Metadata as plain values, without the architecture's prefix. */
function plain(metadata: GgufMetadata): Record<string, unknown> {
  const prefix = getString(metadata, "general.architecture") ?? "";
  return Object.fromEntries(
    Array.from(metadata, ([key, value]) => [
      key.replace(`${prefix}.`, ""),
      "values" in value ? value.values : value.value,
    ]),
  );
}

function tensorShapes(made: ModelPlan): Record<string, readonly number[]> {
  return Object.fromEntries(made.tensors.map(({ name, shape }) => [name, shape]));
}

/** The code of the MlxError; any other error fails the test. */
function thrownCode(act: () => unknown): string {
  try {
    act();
    return "nothing thrown";
  } catch (error) {
    if (error instanceof MlxError) return error.code;
    throw error;
  }
}

const llama32 = {
  model_type: "llama",
  vocab_size: 128_256,
  hidden_size: 2048,
  num_hidden_layers: 2,
  intermediate_size: 8192,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  head_dim: 64,
  rms_norm_eps: 1e-5,
  max_position_embeddings: 131_072,
  rope_theta: 500_000,
  rope_scaling: {
    rope_type: "llama3",
    factor: 32,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
  },
  tie_word_embeddings: true,
};

describe("llama", () => {
  const made = plan(llama32, names(2, LLAMA, TIED));

  it("has the keys of Llama 3.2", () => {
    expect(plain(made.metadata)).toEqual({
      "general.architecture": "llama",
      "general.type": "model",
      block_count: 2,
      context_length: 131_072,
      embedding_length: 2048,
      feed_forward_length: 8192,
      "attention.head_count": 32,
      "attention.head_count_kv": 8,
      "attention.key_length": 64,
      "attention.value_length": 64,
      "attention.layer_norm_rms_epsilon": Math.fround(1e-5),
      "rope.freq_base": 500_000,
      "rope.dimension_count": 64,
      vocab_size: 128_256,
    });
  });

  it("has its tensors, and the embeddings as its output", () => {
    const shapes = tensorShapes(made);
    expect(Object.keys(shapes)).toHaveLength(2 + 2 * 9);
    expect(shapes["token_embd.weight"]).toEqual([2048, 128_256]);
    expect(shapes["blk.1.attn_k.weight"]).toEqual([2048, 512]);
    expect(shapes["blk.1.ffn_down.weight"]).toEqual([8192, 2048]);
    expect(shapes["output.weight"]).toBeUndefined();
  });

  it("interleaves rows: the first half of a head goes to even rows, the second half to odd ones", () => {
    const order = made.tensors.find(({ name }) => name === "blk.0.attn_k.weight")?.rowOrder ?? [];
    expect(Array.from(order.slice(0, 4))).toEqual([0, 32, 1, 33]);
    expect(Array.from(order.slice(64, 68))).toEqual([64, 96, 65, 97]);
    expect(Array.from(order).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 512 }, (_, row) => row));
    expect(made.tensors.find(({ name }) => name === "blk.0.attn_v.weight")?.rowOrder).toBeUndefined();
  });

  it("has factors for long texts: 1 for fast frequencies, the whole for slow ones, and rising in between", () => {
    const [factors] = made.constants ?? [];
    expect(factors?.name).toBe("rope_freqs.weight");
    const values = Array.from(factors?.values ?? []);
    expect(values).toHaveLength(32);
    expect(values.slice(0, 14)).toEqual(Array(14).fill(1));
    expect(values.slice(19)).toEqual(Array(13).fill(32));
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    // Pair 16 has a wavelength of 2π·500000^(1/2) tokens; half of the training context is 1.84 times as long.
    const smooth = (8192 / (2 * Math.PI * Math.sqrt(500_000)) - 1) / 3;
    expect(values[16]).toBeCloseTo(1 / ((1 - smooth) / 32 + smooth), 4);
  });

  it("has its own output matrix if the folder has one", () => {
    const shapes = tensorShapes(
      plan({ ...llama32, tie_word_embeddings: false }, names(2, LLAMA, [...TIED, "lm_head"])),
    );
    expect(shapes["output.weight"]).toEqual([2048, 128_256]);
  });

  it("covers mistral too, whose sliding window is ignored", () => {
    const { rope_scaling: _, ...rest } = llama32;
    const mistral = { ...rest, model_type: "mistral", sliding_window: 4096, head_dim: null };
    const keys = plain(plan(mistral, names(2, LLAMA, TIED)).metadata);
    expect(keys["attention.sliding_window"]).toBeUndefined();
    expect(keys["attention.key_length"]).toBeUndefined();
    expect(keys["rope.dimension_count"]).toBe(64);
  });

  it("may have linear or yarn rope scaling", () => {
    const keysForRope = (rope: object) =>
      plain(plan({ ...llama32, rope_scaling: rope }, names(2, LLAMA, TIED)).metadata);
    expect(keysForRope({ type: "linear", factor: 4 })).toMatchObject({
      "rope.scaling.type": "linear",
      "rope.scaling.factor": 4,
    });
    const yarn = { rope_type: "yarn", factor: 8, original_max_position_embeddings: 4096, beta_fast: 32 };
    expect(keysForRope(yarn)).toMatchObject({
      "rope.scaling.type": "yarn",
      "rope.scaling.factor": 8,
      "rope.scaling.original_context_length": 4096,
      "rope.scaling.yarn_beta_fast": 32,
    });
  });
});

describe("qwen", () => {
  const config = { ...llama32, model_type: "qwen2", rope_scaling: null, head_dim: undefined };

  it("2 has biases", () => {
    const biases = ATTENTION.slice(0, 3).map((module) => `model.layers.0.${module}.bias`);
    const all = new Set([...names(1, LLAMA, TIED), ...biases]);
    const made = plan({ ...config, num_hidden_layers: 1 }, all);
    expect(tensorShapes(made)).toMatchObject({ "blk.0.attn_q.bias": [2048], "blk.0.attn_k.bias": [512] });
    expect(made.tensors.some(({ rowOrder }) => rowOrder !== undefined)).toBe(false);
    expect(plain(made.metadata)["general.architecture"]).toBe("qwen2");
    expect(plain(made.metadata)["vocab_size"]).toBeUndefined();
  });

  it("3 norms queries and keys", () => {
    const made = plan(
      { ...config, model_type: "qwen3", head_dim: 128 },
      names(2, [...LLAMA, ...QUERY_NORMS], TIED),
    );
    expect(tensorShapes(made)).toMatchObject({
      "blk.0.attn_q.weight": [2048, 4096],
      "blk.0.attn_q_norm.weight": [128],
    });
  });

  it("3 with experts has stacked experts and a router in F32", () => {
    const experts = ["gate_proj", "up_proj", "down_proj"].map((name) => `mlp.switch_mlp.${name}`);
    const modules = [...NORMS, ...ATTENTION, ...QUERY_NORMS, "mlp.gate", ...experts];
    const moe = {
      ...config,
      model_type: "qwen3_moe",
      num_experts: 128,
      num_experts_per_tok: 8,
      moe_intermediate_size: 768,
      norm_topk_prob: true,
      decoder_sparse_step: 1,
      mlp_only_layers: [],
    };
    const made = plan(moe, names(2, modules, TIED));
    expect(tensorShapes(made)["blk.1.ffn_down_exps.weight"]).toEqual([768, 2048, 128]);
    expect(made.tensors.find(({ name }) => name === "blk.0.ffn_gate_inp.weight")?.type).toBe("f32");
    expect(plain(made.metadata)).toMatchObject({
      expert_count: 128,
      expert_used_count: 8,
      expert_feed_forward_length: 768,
    });
    expect(thrownCode(() => plan({ ...moe, norm_topk_prob: false }, names(2, modules, TIED)))).toBe(
      "mlx_unsupported",
    );
  });
});

describe("gemma", () => {
  const POST_NORMS = ["pre_feedforward_layernorm", "post_feedforward_layernorm"];
  const gemma3 = {
    model_type: "gemma3_text",
    vocab_size: 262_144,
    hidden_size: 1152,
    num_hidden_layers: 2,
    intermediate_size: 6912,
    num_attention_heads: 4,
    num_key_value_heads: 1,
    head_dim: 256,
    rms_norm_eps: 1e-6,
    max_position_embeddings: 32_768,
    query_pre_attn_scalar: 256,
    rope_theta: 1_000_000,
    rope_local_base_freq: 10_000,
    rope_scaling: null,
    sliding_window: 512,
    sliding_window_pattern: 6,
  };
  const modules3 = [...LLAMA, ...QUERY_NORMS, ...POST_NORMS];

  it("3 has the keys of the 1B model", () => {
    const made = plan(gemma3, names(2, modules3, TIED));
    expect(plain(made.metadata)).toMatchObject({
      "general.architecture": "gemma3",
      "attention.head_count_kv": 1,
      "attention.key_length": 256,
      "attention.sliding_window": 512,
      "rope.freq_base": 1_000_000,
      "rope.freq_base_swa": 10_000,
    });
    expect(plain(made.metadata)["attention.sliding_window_pattern"]).toBeUndefined();
    const norms = made.tensors.filter(({ name }) => name.endsWith("_norm.weight"));
    expect(norms).toHaveLength(2 * 6 + 1);
    expect(norms.every(({ add }) => add === 1)).toBe(true);
    expect(made.tensors.find(({ name }) => name === "blk.0.ffn_norm.weight")?.sources).toEqual([
      "model.layers.0.pre_feedforward_layernorm.weight",
    ]);
  });

  it("3 in a build with vision is its language model, with the family's defaults", () => {
    const text = [...names(2, modules3, TIED)].map((name) => `language_model.${name}`);
    const {
      vocab_size: _,
      num_attention_heads: __,
      num_key_value_heads: ___,
      head_dim: ____,
      ...rest
    } = gemma3;
    const config = {
      model_type: "gemma3",
      text_config: { ...rest, hidden_size: 2560, rope_scaling: { rope_type: "linear", factor: 8 } },
      vision_config: {},
    };
    const made = plan(config, new Set([...text, "vision_tower.vision_model.x.weight"]));
    expect(made.vocabulary).toBe(262_208);
    expect(plain(made.metadata)).toMatchObject({
      "attention.head_count": 8,
      "attention.head_count_kv": 4,
      "rope.scaling.type": "linear",
    });
    expect(made.tensors.some(({ sources }) => sources[0]?.includes("vision"))).toBe(false);
  });

  it("3 may list its layers' types, and irregular ones are refused", () => {
    const types = ["sliding_attention", "full_attention"];
    const rope = {
      full_attention: { rope_type: "default", rope_theta: 500_000 },
      sliding_attention: { rope_type: "default", rope_theta: 20_000 },
    };
    const keys = plain(
      plan({ ...gemma3, layer_types: types, rope_parameters: rope }, names(2, modules3, TIED)).metadata,
    );
    expect(keys).toMatchObject({
      "attention.sliding_window_pattern": 2,
      "rope.freq_base": 500_000,
      "rope.freq_base_swa": 20_000,
    });
    const irregular = { ...gemma3, num_hidden_layers: 3, layer_types: [...types, "full_attention"] };
    expect(thrownCode(() => plan(irregular, names(3, modules3, TIED)))).toBe("mlx_unsupported");
  });

  it("2 has softcaps and a sliding window", () => {
    const gemma2 = {
      ...gemma3,
      model_type: "gemma2",
      attn_logit_softcapping: 50,
      final_logit_softcapping: 30,
      sliding_window: 4096,
    };
    const made = plan(gemma2, names(2, [...LLAMA, ...POST_NORMS], TIED));
    expect(plain(made.metadata)).toMatchObject({
      attn_logit_softcapping: 50,
      final_logit_softcapping: 30,
      "attention.sliding_window": 4096,
    });
    const other = { ...gemma2, query_pre_attn_scalar: 224 };
    expect(thrownCode(() => plan(other, names(2, [...LLAMA, ...POST_NORMS], TIED)))).toBe("mlx_unsupported");
  });

  it("1 has its second norm before the feed-forward", () => {
    const made = plan({ ...gemma3, model_type: "gemma" }, names(2, LLAMA, TIED));
    expect(made.tensors.find(({ name }) => name === "blk.0.ffn_norm.weight")?.sources).toEqual([
      "model.layers.0.post_attention_layernorm.weight",
    ]);
    expect(plain(made.metadata)["rope.freq_base"]).toBeUndefined();
  });
});

describe("phi3", () => {
  const config = {
    ...llama32,
    model_type: "phi3",
    hidden_size: 3072,
    num_attention_heads: 32,
    num_key_value_heads: 32,
    head_dim: undefined,
    tie_word_embeddings: false,
    original_max_position_embeddings: 4096,
    sliding_window: 262_144,
    rope_scaling: { type: "longrope", long_factor: Array(48).fill(2), short_factor: Array(48).fill(1.5) },
  };
  const modules = [...NORMS, "self_attn.qkv_proj", "self_attn.o_proj", "mlp.gate_up_proj", "mlp.down_proj"];

  it("has the keys and factors of Phi 3.5", () => {
    const made = plan(config, names(2, modules, [...TIED, "lm_head"]));
    expect(plain(made.metadata)).toMatchObject({
      "rope.dimension_count": 96,
      "rope.scaling.original_context_length": 4096,
      "attention.sliding_window": 262_144,
      "rope.scaling.attn_factor": Math.fround(Math.sqrt(1 + Math.log(32) / Math.log(4096))),
    });
    expect(made.constants?.map(({ name, values }) => [name, values.length])).toEqual([
      ["rope_factors_long.weight", 48],
      ["rope_factors_short.weight", 48],
    ]);
    expect(tensorShapes(made)).toMatchObject({
      "blk.0.attn_qkv.weight": [3072, 9216],
      "blk.0.ffn_up.weight": [3072, 16_384],
    });
  });

  it("with too few factors is malformed", () => {
    const rope = { ...config.rope_scaling, long_factor: [1] };
    const all = names(2, modules, [...TIED, "lm_head"]);
    expect(thrownCode(() => plan({ ...config, rope_scaling: rope }, all))).toBe("mlx_malformed");
  });
});

describe("lfm2", () => {
  const convolving = ["conv.conv", "conv.in_proj", "conv.out_proj"];
  const attending = ["q_proj", "k_proj", "v_proj", "out_proj", "q_layernorm", "k_layernorm"].map(
    (name) => `self_attn.${name}`,
  );
  const dense = ["w1", "w2", "w3"].map((name) => `feed_forward.${name}`);
  const ends = ["model.embed_tokens", "model.embedding_norm"];
  const tensors = (feedForward: readonly string[]) =>
    new Set(
      [...names(2, ["operator_norm", "ffn_norm", ...feedForward, ...convolving, ...attending], ends)].filter(
        (name) =>
          !(name.includes(".0.self_attn") || name.includes(".1.conv")) && !/conv\.conv\.[sb]/.test(name),
      ),
    );
  const config = {
    model_type: "lfm2",
    vocab_size: 65_536,
    hidden_size: 1024,
    num_hidden_layers: 2,
    num_attention_heads: 16,
    num_key_value_heads: 8,
    max_position_embeddings: 128_000,
    norm_eps: 1e-5,
    theta: 1_000_000,
    conv_L_cache: 3,
    conv_bias: false,
    block_ff_dim: 6656,
    block_auto_adjust_ff_dim: true,
    block_ffn_dim_multiplier: 1,
    block_multiple_of: 256,
    full_attn_idxs: [1],
  };

  it("has the keys of the smallest model, in the older and in the newer form of config.json", () => {
    const newer = { ...config, full_attn_idxs: undefined, layer_types: ["conv", "full_attention"] };
    for (const one of [config, newer]) {
      expect(plain(plan(one, tensors(dense)).metadata)).toEqual({
        "general.architecture": "lfm2",
        "general.type": "model",
        block_count: 2,
        context_length: 128_000,
        embedding_length: 1024,
        feed_forward_length: 4608,
        "attention.head_count": 16,
        "attention.head_count_kv": [0, 8],
        "attention.layer_norm_rms_epsilon": Math.fround(1e-5),
        "rope.freq_base": 1_000_000,
        vocab_size: 65_536,
        "shortconv.l_cache": 3,
      });
    }
  });

  it("has its convolution in F32, without the dimension of 1", () => {
    const made = plan(config, tensors(dense));
    expect(made.tensors.find(({ name }) => name === "blk.0.shortconv.conv.weight")).toMatchObject({
      shape: [3, 1024],
      type: "f32",
    });
    expect(tensorShapes(made)["token_embd_norm.weight"]).toEqual([1024]);
  });

  it("with experts has them after the dense layers", () => {
    const experts = ["gate_proj", "up_proj", "down_proj"].map((name) => `feed_forward.switch_mlp.${name}`);
    const asked = [...tensors(["feed_forward.gate", ...experts])].filter(
      (name) => !name.includes(".0.feed_forward"),
    );
    const first = [
      ...tensors(["gate_proj", "up_proj", "down_proj"].map((name) => `feed_forward.${name}`)),
    ].filter((name) => name.includes(".0.feed_forward"));
    const all = new Set([...asked, ...first, "model.layers.1.feed_forward.expert_bias"]);
    const moe = {
      ...config,
      model_type: "lfm2_moe",
      intermediate_size: 7168,
      moe_intermediate_size: 1792,
      num_experts: 32,
      num_experts_per_tok: 4,
      num_dense_layers: 1,
      norm_topk_prob: true,
      routed_scaling_factor: 1,
    };
    const made = plan(moe, all);
    expect(plain(made.metadata)).toMatchObject({
      feed_forward_length: 7168,
      expert_count: 32,
      expert_used_count: 4,
      expert_feed_forward_length: 1792,
      leading_dense_block_count: 1,
      expert_gating_func: 2,
    });
    expect(tensorShapes(made)).toMatchObject({
      "blk.0.ffn_up.weight": [1024, 7168],
      "blk.1.ffn_up_exps.weight": [1024, 1792, 32],
      "blk.1.exp_probs_b.bias": [32],
    });
  });
});

describe("a folder that cannot be converted", () => {
  it("because its family is unknown is refused, and the supported types are named", () => {
    expect(() => plan({ ...llama32, model_type: "mamba" }, new Set())).toThrow(
      /mamba.*llama, mistral, qwen2/,
    );
  });

  it("because it brings its own code is refused", () => {
    expect(thrownCode(() => parseConfig({ ...llama32, model_file: "model.py" }))).toBe("mlx_unsupported");
  });

  it.each([
    ["no sizes", { hidden_size: undefined }],
    ["a width beyond any model's", { hidden_size: 2 ** 40 }],
    ["half a layer", { num_hidden_layers: 0.5 }],
    ["more layers than llama.cpp has room for", { num_hidden_layers: 513 }],
    ["a vocabulary as text", { vocab_size: "128256" }],
    ["heads that do not share", { num_key_value_heads: 5 }],
    ["an odd head", { head_dim: 63 }],
    ["heads that are wider together than any model", { num_attention_heads: 2 ** 20, head_dim: 2 ** 20 }],
    ["no epsilon", { rms_norm_eps: 0 }],
    ["positions stretched by nothing", { rope_scaling: { rope_type: "linear" } }],
    ["a list as rope_scaling", { rope_scaling: [1] }],
  ])("with %s is malformed", (_, change) => {
    expect(thrownCode(() => plan({ ...llama32, ...change }, names(2, LLAMA, TIED)))).toBe("mlx_malformed");
  });

  it("because llama.cpp does not support its rope scaling is refused", () => {
    const dynamic = { ...llama32, rope_scaling: { type: "dynamic", factor: 2 } };
    expect(thrownCode(() => plan(dynamic, names(2, LLAMA, TIED)))).toBe("mlx_unsupported");
  });

  it("because llama.cpp does not support its sliding window is refused", () => {
    const windowed = { ...llama32, layer_types: ["full_attention", "sliding_attention"] };
    expect(thrownCode(() => plan(windowed, names(2, LLAMA, TIED)))).toBe("mlx_unsupported");
  });

  it("because any of its tensors is missing is refused", () => {
    const all = names(2, LLAMA, TIED);
    for (const name of [...all].filter((one) => one.endsWith(".weight"))) {
      const without = new Set([...all].filter((one) => one !== name));
      expect(
        thrownCode(() => plan(llama32, without)),
        name,
      ).toBe("mlx_missing");
    }
    expect(thrownCode(() => plan({ ...llama32, tie_word_embeddings: false }, all))).toBe("mlx_missing");
  });

  it("because of an unknown tensor is refused, except for stored frequencies", () => {
    const all = names(2, LLAMA, TIED);
    const frequencies = "model.layers.0.self_attn.rotary_emb.inv_freq";
    expect(plan(llama32, new Set([...all, frequencies])).tensors).toHaveLength(20);
    for (const name of ["model.layers.2.mlp.up_proj.weight", "model.layers.0.self_attn.sinks"])
      expect(
        thrownCode(() => plan(llama32, new Set([...all, name]))),
        name,
      ).toBe("mlx_unsupported");
  });
});
