import type { GgufHeader, GgufTensorInfo, GgufValue } from "@ingle/gguf";
import { describe, expect, it } from "vitest";
import { stepsPerSecond, countWork } from "./limits.ts";

const f32 = 0;
const q8 = 8;

function tensor(name: string, shape: readonly number[], typeCode = q8): GgufTensorInfo {
  const weights = shape.reduce((product, size) => product * size, 1);
  return { name, shape, typeCode, offset: 0, sizeBytes: typeCode === q8 ? (weights / 32) * 34 : weights * 4 };
}

function header(
  tensors: readonly GgufTensorInfo[],
  metadata: GgufHeader["metadata"] = new Map(),
): GgufHeader {
  return { metadata, tensors, bytes: 0 };
}

describe("countWork", () => {
  const embeddings = tensor("token_embd.weight", [64, 100]);
  const output = tensor("output.weight", [64, 100]);
  const layer = tensor("blk.0.ffn_up.weight", [64, 32]);
  const norm = tensor("blk.0.ffn_norm.weight", [64], f32);

  it("reads weights once for all tokens and multiplies them for each", () => {
    expect(countWork(header([embeddings, output, layer, norm]), 10, 1)).toEqual({
      bytes: 6_800 + 2_176 + 256,
      products: 6_400 + 10 * 2_048,
    });
  });

  it("takes the embeddings for the logits of a model that has no other matrix for them", () => {
    expect(countWork(header([embeddings, layer]), 2, 2)).toEqual({
      bytes: 6_800 + 2_176,
      products: 2 * 8_448,
    });
  });

  it("counts a product of floats as four of bytes", () => {
    const floats = tensor("blk.0.ffn_up.weight", [64, 32], f32);
    expect(countWork(header([output, floats]), 1, 0)).toMatchObject({ products: 4 * 2_048 });
  });

  it("reads the experts that tokens are likely to choose, and multiplies those of each", () => {
    const experts = tensor("blk.0.ffn_up_exps.weight", [64, 32, 4]);
    const keys = new Map<string, GgufValue>([
      ["general.architecture", { type: "string", value: "moe" }],
      ["moe.expert_used_count", { type: "uint32", value: 2 }],
    ]);
    const moe = header([experts], keys);
    expect(countWork(moe, 1, 0)).toEqual({ bytes: 8_704 / 2, products: 4_096 });
    expect(countWork(moe, 2, 0)).toEqual({ bytes: 8_704 * 0.75, products: 8_192 });
  });
});

it("allows as many steps as the slower of reading and multiplying", () => {
  const limits = { bytesPerSecond: 1_000, productsPerSecond: 1_000 };
  expect(stepsPerSecond({ bytes: 100, products: 20 }, limits)).toBe(10);
  expect(stepsPerSecond({ bytes: 20, products: 500 }, limits)).toBe(2);
});
