// The quantization in config.json against the tensors.
import { describe, expect, it } from "vitest";

import { parseConfig } from "./config.ts";
import { MlxError } from "./errors.ts";
import { quantizedTensor, readQuantization } from "./quantization.ts";
import type { Dtype } from "./safetensors.ts";

/** The tensors of the module `m`, by default with 8 rows of 128 weights. */
interface Made {
  bits?: number;
  groupSize?: number;
  columns?: number;
  scales?: Dtype;
  weight?: Dtype;
  lacks?: string;
  more?: string;
}

function outcome(fields: Record<string, unknown>, made: Made = {}): unknown {
  const { bits = 4, groupSize = 64, columns = 128, scales = "BF16", weight = "U32" } = made;
  const shapes: Record<string, [Dtype, number[]]> = {
    "m.weight": [weight, [8, (columns * bits) / 32]],
    "m.scales": [scales, [8, columns / groupSize]],
  };
  if (scales !== "U8") shapes["m.biases"] = [scales, [8, columns / groupSize]];
  if (made.more !== undefined) shapes[made.more] = ["F32", [1]];
  if (made.lacks !== undefined) delete shapes[made.lacks];
  const find = (name: string) => {
    const found = shapes[name];
    return found && { name, dtype: found[0], shape: found[1], offset: 0, sizeBytes: 0, file: "f" };
  };
  try {
    const settings = readQuantization(parseConfig({ model_type: "llama", ...fields }));
    const found = quantizedTensor("m.weight", settings, find);
    return found && `${found.mode} ${found.bits} ${found.groupSize} ${found.columns}`;
  } catch (error) {
    if (error instanceof MlxError) return error.code;
    throw error;
  }
}

const usual = { group_size: 64, bits: 4 };

describe("a module with scales", () => {
  it("has the quantization of the defaults", () => {
    expect(outcome({ quantization: usual })).toBe("affine 4 64 128");
    expect(outcome({ quantization_config: { ...usual, mode: "affine" } })).toBe("affine 4 64 128");
    expect(outcome({ text_config: { quantization: usual } })).toBe("affine 4 64 128");
  });

  it.each([1, 2, 3, 4, 5, 6, 8])("may have %i bits", (bits) => {
    for (const groupSize of [32, 64, 128]) {
      const quantization = { group_size: groupSize, bits };
      expect(outcome({ quantization }, { bits, groupSize })).toBe(`affine ${bits} ${groupSize} 128`);
    }
  });

  it("has the quantization of its override", () => {
    const quantization = { ...usual, m: { group_size: 32, bits: 6 } };
    expect(outcome({ quantization }, { bits: 6, groupSize: 32 })).toBe("affine 6 32 128");
    expect(outcome({ quantization: { ...usual, m: true } })).toBe("affine 4 64 128");
  });

  it("has the bits that its shapes give if it has no override, as in mixed builds", () => {
    expect(outcome({ quantization: usual }, { bits: 8 })).toBe("affine 8 64 128");
    expect(outcome({ quantization: { group_size: 32 } }, { bits: 3, groupSize: 32 })).toBe("affine 3 32 128");
  });

  it.each([
    ["mxfp4", 4, 32],
    ["mxfp8", 8, 32],
    ["nvfp4", 4, 16],
  ])("of the mode %s has that mode's sizes", (mode, bits, groupSize) => {
    const made = { bits, groupSize, scales: "U8" as const };
    expect(outcome({ quantization: { mode, bits, group_size: groupSize } }, made)).toBe(
      `${mode} ${bits} ${groupSize} 128`,
    );
    expect(outcome({ quantization: { mode } }, made)).toBe(`${mode} ${bits} ${groupSize} 128`);
    expect(outcome({ quantization: { mode, bits, group_size: 64 } }, made)).toBe("mlx_malformed");
    expect(outcome({ quantization: { mode } }, { ...made, scales: "BF16" })).toBe("mlx_malformed");
  });

  it("is mxfp4 if quant_method says so", () => {
    const made = { groupSize: 32, scales: "U8" as const };
    expect(outcome({ quantization_config: { quant_method: "mxfp4" } }, made)).toBe("mxfp4 4 32 128");
  });

  it("is malformed if config.json has no quantization", () => {
    expect(outcome({})).toBe("mlx_malformed");
    expect(outcome({ quantization: {} })).toBe("mlx_malformed");
  });

  it("is malformed if its override is false", () => {
    expect(outcome({ quantization: { ...usual, m: false } })).toBe("mlx_malformed");
  });

  it("is malformed if its shapes contradict its override, or all possible sizes", () => {
    expect(outcome({ quantization: { ...usual, m: { bits: 8, group_size: 64 } } })).toBe("mlx_malformed");
    expect(outcome({ quantization: { group_size: 16, bits: 4 } }, { groupSize: 16 })).toBe("mlx_malformed");
    expect(outcome({ quantization: { group_size: 64, bits: 7 } }, { bits: 7 })).toBe("mlx_malformed");
  });

  it("is refused with codes or scales of another type, or without biases", () => {
    expect(outcome({ quantization: usual }, { weight: "I32" })).toBe("mlx_malformed");
    expect(outcome({ quantization: usual }, { scales: "F64" })).toBe("mlx_malformed");
    expect(outcome({ quantization: usual }, { lacks: "m.biases" })).toBe("mlx_missing");
    expect(outcome({ quantization: usual }, { lacks: "m.weight" })).toBe("mlx_missing");
  });

  it("is unsupported in another mode, with a global scale, or by another method", () => {
    expect(outcome({ quantization: { ...usual, mode: "nf4" } })).toBe("mlx_unsupported");
    expect(outcome({ quantization: usual }, { more: "m.global_scale" })).toBe("mlx_unsupported");
    for (const method of ["awq", "gptq", "bitnet", "compressed-tensors", 7])
      expect(outcome({ quantization_config: { quant_method: method } })).toBe("mlx_unsupported");
  });
});

it("a module without scales is not quantized, whatever config.json says", () => {
  expect(outcome({ quantization: usual }, { lacks: "m.scales" })).toBeUndefined();
});

it("a quantization block that is not an object is malformed", () => {
  for (const quantization of [4, "4bit", [], { bits: "4" }, { bits: -4 }, { group_size: 0.5 }])
    expect(outcome({ quantization })).toBe("mlx_malformed");
});
