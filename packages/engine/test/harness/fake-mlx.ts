// The files of a small model in MLX's format: a llama of one layer with untrained quantized weights, complete enough to be
// converted.

/** The model's sizes; a head has 32. */
const width = 64;
const vocabulary = 259;
const bits = 4;
const groupSize = 64;

/** The files by name. Another `seed` gives other weights. */
export function fakeMlx({ seed = 1, modelType = "llama" } = {}): Record<string, Buffer> {
  const config = {
    model_type: modelType,
    hidden_size: width,
    intermediate_size: width,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    num_key_value_heads: 2,
    max_position_embeddings: 128,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    vocab_size: vocabulary,
    tie_word_embeddings: true,
    quantization: { group_size: groupSize, bits },
  };
  return {
    "config.json": toJsonBytes(config),
    "tokenizer.json": toJsonBytes(tokenizer()),
    "tokenizer_config.json": toJsonBytes({ bos_token: "<s>", eos_token: "</s>" }),
    "model.safetensors": safetensors(tensors(seed)),
    "README.md": Buffer.from("words"),
  };
}

interface Tensor {
  dtype: string;
  shape: number[];
  bytes: Buffer;
}

function tensors(seed: number): Map<string, Tensor> {
  const made = new Map<string, Tensor>();
  const matrix = (module: string, rows: number): void => {
    const codes = Buffer.alloc((rows * width * bits) / 8, (made.size * 37 + seed) % 256);
    made.set(`${module}.weight`, { dtype: "U32", shape: [rows, (width * bits) / 32], bytes: codes });
    const groups = [rows, width / groupSize];
    made.set(`${module}.scales`, { dtype: "F16", shape: groups, bytes: halves(rows, 0x2000) });
    made.set(`${module}.biases`, { dtype: "F16", shape: groups, bytes: halves(rows, 0xb000) });
  };
  const norm = (name: string): void => {
    made.set(`${name}.weight`, { dtype: "F16", shape: [width], bytes: halves(width, 0x3c00) });
  };
  matrix("model.embed_tokens", vocabulary);
  norm("model.norm");
  norm("model.layers.0.input_layernorm");
  norm("model.layers.0.post_attention_layernorm");
  for (const part of ["q", "k", "v", "o"]) matrix(`model.layers.0.self_attn.${part}_proj`, width);
  for (const part of ["gate", "up", "down"]) matrix(`model.layers.0.mlp.${part}_proj`, width);
  return made;
}

function halves(count: number, half: number): Buffer {
  const bytes = Buffer.alloc(2 * count);
  for (let at = 0; at < bytes.length; at += 2) bytes.writeUInt16LE(half, at);
  return bytes;
}

/** A token for each byte, and three others. */
function tokenizer(): object {
  const hex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, "0");
  const names = ["<unk>", "<s>", "</s>", ...Array.from({ length: 256 }, (_, byte) => `<0x${hex(byte)}>`)];
  const vocab = Object.fromEntries(names.map((name, id) => [name, id]));
  const added = ["<unk>", "<s>", "</s>"].map((content, id) => ({ id, content, special: true }));
  return {
    version: "1.0",
    added_tokens: added,
    normalizer: { type: "Replace", pattern: { String: " " }, content: "\u2581" },
    model: { type: "BPE", byte_fallback: true, unk_token: "<unk>", vocab, merges: [] },
  };
}

function safetensors(made: ReadonlyMap<string, Tensor>): Buffer {
  const header: Record<string, object> = {};
  let end = 0;
  for (const [name, { dtype, shape, bytes }] of made) {
    header[name] = { dtype, shape, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
  }
  const json = toJsonBytes(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, ...Array.from(made.values(), ({ bytes }) => bytes)]);
}

function toJsonBytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
