// A llama model without a vocabulary, for tests that quantize it and never run it: wide enough for every block type, and a thousand
// times less work than one with 32,000 tokens.
import { seededRandom, writeGguf, type GgufTensor } from "@ingle/fixtures";
import type { GgufMetadata, GgufValue } from "@ingle/gguf";

const width = 256;
const tokens = 64;

const count = (value: number): GgufValue => ({ type: "uint32", value });
const text = (value: string): GgufValue => ({ type: "string", value });

export const smallMetadata: GgufMetadata = new Map([
  ["general.architecture", text("llama")],
  ["general.name", text("small")],
  ["llama.vocab_size", count(tokens)],
  ["llama.context_length", count(64)],
  ["llama.embedding_length", count(width)],
  ["llama.block_count", count(1)],
  ["llama.feed_forward_length", count(width)],
  ["llama.attention.head_count", count(4)],
  ["llama.attention.head_count_kv", count(2)],
  ["llama.attention.layer_norm_rms_epsilon", { type: "float32", value: 1e-5 } as const],
  ["llama.rope.dimension_count", count(64)],
  ["tokenizer.ggml.model", text("no_vocab")],
]);

function tensor(name: string, shape: number[]): GgufTensor {
  const { normal } = seededRandom(1, name);
  const numbers = shape.reduce((product, size) => product * size, 1);
  const values = () => [Float32Array.from({ length: numbers }, () => normal() / 16)];
  return { name: `${name}.weight`, type: "f32", shape, values };
}

export const smallTensors: readonly GgufTensor[] = [
  tensor("token_embd", [width, tokens]),
  tensor("output_norm", [width]),
  tensor("output", [width, tokens]),
  tensor("blk.0.attn_norm", [width]),
  tensor("blk.0.attn_q", [width, width]),
  tensor("blk.0.attn_k", [width, width / 2]),
  tensor("blk.0.attn_v", [width, width / 2]),
  tensor("blk.0.attn_output", [width, width]),
  tensor("blk.0.ffn_norm", [width]),
  tensor("blk.0.ffn_gate", [width, width]),
  tensor("blk.0.ffn_up", [width, width]),
  tensor("blk.0.ffn_down", [width, width]),
];

/** Writes the model, optionally with other metadata or other tensors. */
export async function writeSmallModel(
  path: string,
  {
    keys = [],
    tensors = smallTensors,
  }: { keys?: [string, GgufValue][]; tensors?: readonly GgufTensor[] } = {},
): Promise<string> {
  await writeGguf(path, { metadata: new Map([...smallMetadata, ...keys]), tensors });
  return path;
}

/** Writes an importance matrix of the small model: of every matrix, the later columns matter more. */
export async function writeSmallImatrix(
  path: string,
  { columns = width, keys = [] }: { columns?: number; keys?: [string, GgufValue][] } = {},
): Promise<string> {
  const metadata = new Map<string, GgufValue>([
    ["general.type", text("imatrix")],
    ["imatrix.datasets", { type: "string", values: ["some.txt"] }],
    ["imatrix.chunk_count", count(2)],
    ["imatrix.chunk_size", count(16)],
    ...keys,
  ]);
  const tensors = smallTensors
    .filter(({ name, shape }) => name.startsWith("blk.") && shape.length > 1)
    .flatMap(({ name }): GgufTensor[] => [
      {
        name: `${name}.in_sum2`,
        type: "f32",
        shape: [columns, 1],
        values: () => [Float32Array.from({ length: columns }, (_, column) => column + 1)],
      },
      { name: `${name}.counts`, type: "f32", shape: [1, 1], values: () => [Float32Array.of(32)] },
    ]);
  await writeGguf(path, { metadata, tensors });
  return path;
}
