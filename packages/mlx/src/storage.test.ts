// Every storage of weights, checked against the formulas of both formats one weight at a time.
import { halfBits } from "@ingle/gguf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { errorInSteps, noErrors, type ErrorTally } from "./ggml-blocks.ts";
import type { Dtype } from "./safetensors.ts";
import type { RawRows, ReadyTensor } from "./tensor-sources.ts";
import { isGoodEnough, candidateStorages, type StoredType } from "./storage.ts";
import { e4m3, ggmlValue, half } from "../test/ggml-values.ts";
import { packCodes, quantizeGroup, roundToBrain, type Group } from "../test/quantized-rows.ts";

const rows = 2;
const groupsOfRow = 4;

/** Repeatable pseudo-random numbers. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function encodeFloats(dtype: Dtype, values: readonly number[]): Uint8Array {
  if (dtype === "F32") return new Uint8Array(Float32Array.from(values).buffer);
  const bits = (value: number): number =>
    dtype === "F16" ? halfBits(value) : new Uint32Array(Float32Array.of(value).buffer)[0]! >>> 16;
  return new Uint8Array(Uint16Array.from(values.map(bits)).buffer);
}

function makeTensor(
  mode: "affine" | "mxfp4" | "mxfp8" | "nvfp4",
  { bits, groupSize, dtype }: { bits: number; groupSize: number; dtype: Dtype },
  more: Partial<ReadyTensor["plan"]> = {},
): ReadyTensor {
  const columns = groupSize * groupsOfRow;
  const tensor = { name: "m.weight", dtype, shape: [], offset: 0, sizeBytes: 0, file: "" };
  const source = { kind: "quantized" as const, mode, bits, groupSize, columns, rows };
  return {
    plan: { name: "t", sources: ["m.weight"], shape: [columns, rows], ...more },
    sources: [{ ...source, weight: tensor, scales: tensor, biases: tensor }],
    shape: [columns, rows],
    takes: [],
  };
}

function affineRows(groups: readonly Group[], bits: number, dtype: Dtype): RawRows {
  return {
    weight: Buffer.concat(groups.map(({ codes }) => packCodes(codes, bits))),
    scales: encodeFloats(
      dtype,
      groups.map(({ scale }) => scale),
    ),
    biases: encodeFloats(
      dtype,
      groups.map(({ bias }) => bias),
    ),
  };
}

function dequantized(groups: readonly Group[]): number[] {
  return groups.flatMap(({ scale, bias, codes }) =>
    codes.map((code) => Math.fround(Math.fround(scale * code) + bias)),
  );
}

/** The first storage that is good enough, chosen as write-model.ts does, with the written bytes. */
function store(tensor: ReadyTensor, raw: RawRows, exact = false) {
  const storages = candidateStorages(tensor);
  for (const storage of storages) {
    const tally = noErrors();
    const bytes = storage.encode(raw, tally);
    if (isGoodEnough(storage.type, tally, { exact }) || storage === storages.at(-1))
      return { type: storage.type, tally, bytes };
  }
  throw new Error("nothing holds it");
}

function read(type: StoredType, bytes: Uint8Array, count: number): number[] {
  return Array.from({ length: count }, (_, index) => ggmlValue(type, bytes, index));
}

/** The tally computed from the values themselves. */
function trueError(
  wanted: readonly number[],
  found: readonly number[],
): Pick<ErrorTally, "squares" | "largest"> {
  const errors = wanted.map((value, index) => found[index]! - value);
  return {
    squares: errors.reduce((sum, error) => sum + error * error, 0),
    largest: Math.max(...errors.map(Math.abs)),
  };
}

function madeGroups(bits: number, groupSize: number, round: (value: number) => number, seed = 1): Group[] {
  const random = seeded(seed);
  return Array.from({ length: rows * groupsOfRow }, () =>
    quantizeGroup(
      Array.from({ length: groupSize }, () => 0.02 * normal(random)),
      bits,
      round,
    ),
  );
}

const toHalf = (value: number): number => half(halfBits(value));
const sizes = [1, 2, 3, 4, 5, 6, 8].flatMap((bits) =>
  [32, 64, 128].map((groupSize) => ({ bits, groupSize })),
);
const small = sizes.filter(({ bits }) => bits <= 5);
const large = sizes.filter(({ bits }) => bits > 5);

describe("affine weights of up to 5 bits", () => {
  it.each(small)(
    "keep every value where halves hold the scales: $bits bits, groups of $groupSize",
    ({ bits, groupSize }) => {
      // Any codes with any scales, negative ones too, not only those that a quantizer would make.
      const random = seeded(7);
      const groups = Array.from({ length: rows * groupsOfRow }, () => ({
        scale: toHalf(random() - 0.5),
        bias: toHalf(4 * random() - 2),
        codes: Array.from({ length: groupSize }, () => Math.floor(random() * 2 ** bits)),
      }));
      const tensor = makeTensor("affine", { bits, groupSize, dtype: "F16" });
      const { type, bytes, tally } = store(tensor, affineRows(groups, bits, "F16"), true);
      expect(type).toBe(bits === 5 ? "Q5_1" : "Q4_1");
      expect(read(type, bytes, groups.length * groupSize)).toEqual(dequantized(groups));
      expect(tally).toMatchObject({ weights: groups.length * groupSize, squares: 0, largest: 0 });
    },
  );

  it("of 1 bit keep every value in an eighth of the bytes if there are only d and -d", () => {
    const random = seeded(11);
    const groups = Array.from({ length: rows * groupsOfRow }, () => {
      const bias = toHalf(random() - 0.5);
      return { scale: -2 * bias, bias, codes: Array.from({ length: 128 }, () => Math.round(random())) };
    });
    const tensor = makeTensor("affine", { bits: 1, groupSize: 128, dtype: "F16" });
    const { type, bytes, tally } = store(tensor, affineRows(groups, 1, "F16"), true);
    expect(type).toBe("Q1_0");
    expect(bytes).toHaveLength(groups.length * 18);
    expect(read(type, bytes, groups.length * 128)).toEqual(dequantized(groups));
    expect(tally).toMatchObject({ weights: groups.length * 128, squares: 0, largest: 0 });
  });

  it("keep every value of usual bfloat16 scales", () => {
    const groups = madeGroups(4, 64, roundToBrain);
    const tensor = makeTensor("affine", { bits: 4, groupSize: 64, dtype: "BF16" });
    const { type, bytes } = store(tensor, affineRows(groups, 4, "BF16"));
    expect(read(type, bytes, 512)).toEqual(dequantized(groups));
  });

  it("are rounded slightly, and the tally shows it, if halves do not hold the scales", () => {
    const groups = madeGroups(4, 64, Math.fround);
    const tensor = makeTensor("affine", { bits: 4, groupSize: 64, dtype: "F32" });
    const raw = affineRows(groups, 4, "F32");
    const { type, bytes, tally } = store(tensor, raw);
    expect(type).toBe("Q4_1");
    const { squares, largest } = trueError(dequantized(groups), read(type, bytes, 512));
    expect(tally.squares).toBeCloseTo(squares, 12);
    expect(tally.largest).toBeCloseTo(largest, 8);
    expect(errorInSteps(tally)).toBeGreaterThan(0);
    expect(errorInSteps(tally)).toBeLessThan(0.01);
    expect(store(tensor, raw, true).type).toBe("F16");
  });

  it("become F32 if their scales exceed any half", () => {
    const groups = madeGroups(4, 64, Math.fround).map((group) => ({ ...group, scale: 1e6, bias: -3e6 }));
    const tensor = makeTensor("affine", { bits: 4, groupSize: 64, dtype: "F32" });
    const { type, bytes } = store(tensor, affineRows(groups, 4, "F32"));
    expect(type).toBe("F32");
    expect(read(type, bytes, 512)).toEqual(dequantized(groups));
  });
});

describe("affine weights of 6 and 8 bits", () => {
  it.each(large)(
    "as MLX makes them become Q8_0 within half a step: $bits bits, groups of $groupSize",
    ({ bits, groupSize }) => {
      for (const [dtype, round] of [
        ["F16", toHalf],
        ["BF16", roundToBrain],
      ] as const) {
        const groups = madeGroups(bits, groupSize, round);
        const tensor = makeTensor("affine", { bits, groupSize, dtype });
        const { type, bytes, tally } = store(tensor, affineRows(groups, bits, dtype));
        expect(type).toBe("Q8_0");
        const { squares, largest } = trueError(
          dequantized(groups),
          read(type, bytes, groups.length * groupSize),
        );
        expect(tally.squares).toBeCloseTo(squares, 12);
        expect(tally.largest).toBeCloseTo(largest, 8);
        expect(errorInSteps(tally)).toBeLessThan(0.5);
      }
    },
  );

  it("keep their codes if the bias is a whole multiple of the scale and they fit", () => {
    const random = seeded(3);
    const groups = Array.from({ length: rows * groupsOfRow }, () => ({
      scale: 2 ** -8,
      bias: -32 * 2 ** -8,
      codes: Array.from({ length: 64 }, () => Math.floor(64 * random())),
    }));
    const tensor = makeTensor("affine", { bits: 6, groupSize: 64, dtype: "F16" });
    const { type, bytes, tally } = store(tensor, affineRows(groups, 6, "F16"), true);
    expect(type).toBe("Q8_0");
    expect(tally.squares).toBe(0);
    expect(read(type, bytes, 512)).toEqual(dequantized(groups));
  });

  it("become halves if Q8_0 would lose more than their own quantization did, and with `exact`", () => {
    // Far from zero: most of Q8_0's range would be wasted.
    const shifted = madeGroups(8, 64, toHalf).map(({ scale, codes }) => ({
      scale,
      codes,
      bias: toHalf(0.3),
    }));
    const tensor = makeTensor("affine", { bits: 8, groupSize: 64, dtype: "F16" });
    const { type, bytes, tally } = store(tensor, affineRows(shifted, 8, "F16"));
    expect(type).toBe("F16");
    const wanted = dequantized(shifted);
    expect(read(type, bytes, 512)).toEqual(wanted.map(toHalf));
    expect(tally.squares).toBeCloseTo(trueError(wanted, wanted.map(toHalf)).squares, 12);
    expect(store(tensor, affineRows(madeGroups(8, 64, toHalf), 8, "F16"), true).type).toBe("F16");
  });

  it("of a group whose scale is 0 are equal to the bias", () => {
    const groups = madeGroups(8, 32, toHalf).map((group, index) => ({ ...group, scale: 0, bias: index / 8 }));
    const tensor = makeTensor("affine", { bits: 8, groupSize: 32, dtype: "F16" });
    const { type, bytes } = store(tensor, affineRows(groups, 8, "F16"));
    const found = read(type, bytes, 256);
    for (const [index, value] of dequantized(groups).entries()) expect(found[index]).toBeCloseTo(value, 2);
  });
});

describe("floats of 4 and 8 bits", () => {
  const anyCodes = (count: number) => fc.uint8Array({ minLength: count, maxLength: count });
  const scaled = (mode: "mxfp4" | "mxfp8" | "nvfp4") => {
    const groupSize = mode === "nvfp4" ? 16 : 32;
    return makeTensor(mode, { bits: mode === "mxfp8" ? 8 : 4, groupSize, dtype: "U8" });
  };
  const tiny = [0, 0.5, 1, 1.5, 2, 3, 4, 6];
  const nibble = (codes: Uint8Array, index: number): number => {
    const code = index % 2 === 0 ? codes[index / 2]! % 16 : Math.floor(codes[(index - 1) / 2]! / 16);
    return code < 8 ? tiny[code]! : -tiny[code - 8]!;
  };
  const none = new Uint8Array(0);

  it("of mxfp4 keep every value", () => {
    const exponents = fc
      .uint8Array({ minLength: 8, maxLength: 8 })
      .filter((list) => list.every((e) => e > 3 && e < 250));
    fc.assert(
      fc.property(anyCodes(128), exponents, (weight, scales) => {
        const { type, bytes } = store(scaled("mxfp4"), { weight, scales, biases: none });
        expect(type).toBe("MXFP4");
        for (let i = 0; i < 256; i += 1)
          expect(ggmlValue(type, bytes, i) + 0).toBe(
            nibble(weight, i) * 2 ** (scales[Math.floor(i / 32)]! - 127) + 0,
          );
      }),
      { numRuns: 20 },
    );
  });

  it("of nvfp4 keep every value, and become halves if ggml would read a scale differently", () => {
    fc.assert(
      fc.property(anyCodes(64), anyCodes(8), (weight, any) => {
        const scales = any.map((scale) => scale % 0x7f);
        const { type, bytes } = store(scaled("nvfp4"), { weight, scales, biases: none });
        expect(type).toBe("NVFP4");
        const negative = scales.map((scale) => scale | 0x80);
        const halves = store(scaled("nvfp4"), { weight, scales: negative, biases: none });
        expect(halves.type).toBe("F16");
        for (let i = 0; i < 128; i += 1) {
          const value = nibble(weight, i) * e4m3(scales[Math.floor(i / 16)]!);
          expect(ggmlValue(type, bytes, i) + 0).toBe(value + 0);
          expect(ggmlValue("F16", halves.bytes, i) + 0).toBe(0 - value);
        }
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ["mxfp4", 0, 0xff],
    ["mxfp8", 0, 0xff],
    ["mxfp8", 0xff, 0x70],
    ["nvfp4", 0, 0x7f],
    ["nvfp4", 0, 0xff],
  ] as const)("of %s are told when a code (%d) or a scale (%d) is no number", (mode, code, scale) => {
    const rawRows = {
      weight: new Uint8Array(256).fill(code),
      scales: new Uint8Array(16).fill(scale, 3, 4),
      biases: none,
    };
    for (const { type, encode } of candidateStorages(scaled(mode))) {
      const tally = noErrors();
      encode(rawRows, tally);
      expect(isGoodEnough(type, tally, {})).toBe(false);
    }
  });

  it("of mxfp8 become bfloat16, which holds every value", () => {
    fc.assert(
      fc.property(anyCodes(256), (any) => {
        const weight = any.map((code) => (code % 0x80 === 0x7f ? 0 : code));
        const scales = Uint8Array.from({ length: 8 }, (_, index) => 110 + 4 * index);
        const { type, bytes } = store(scaled("mxfp8"), { weight, scales, biases: none });
        expect(type).toBe("BF16");
        for (let i = 0; i < 256; i += 1) {
          const sign = weight[i]! < 0x80 ? 1 : -1;
          const value = sign * e4m3(weight[i]! % 0x80) * 2 ** (scales[Math.floor(i / 32)]! - 127);
          expect(ggmlValue(type, bytes, i) + 0).toBe(value + 0);
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe("plain numbers", () => {
  const plain = (
    dtype: "F16" | "BF16" | "F32",
    more: Partial<ReadyTensor["plan"]>,
    shape = [4, 2],
  ): ReadyTensor => {
    const weight = { name: "m.weight", dtype, shape: [], offset: 0, sizeBytes: 0, file: "" };
    const source = { kind: "plain" as const, dtype, weight, columns: 4, rows: 2 };
    return {
      plan: { name: "t", sources: ["m.weight"], shape, ...more },
      sources: [source],
      shape,
      takes: [],
    };
  };
  const none = new Uint8Array(0);
  const values = [1, -2, 0.5, 3, 0, 8, -0.25, 7];

  it.each(["F16", "BF16", "F32"] as const)("of %s are copied", (dtype) => {
    const weight = encodeFloats(dtype, values);
    const { type, bytes } = store(plain(dtype, {}), { weight, scales: none, biases: none });
    expect(type).toBe(dtype);
    expect(bytes).toEqual(weight);
  });

  it.each(["F16", "BF16", "F32"] as const)(
    "of %s become F32 in vectors and where it is asked for",
    (dtype) => {
      const raw = { weight: encodeFloats(dtype, values), scales: none, biases: none };
      for (const tensor of [plain(dtype, {}, [8]), plain(dtype, { type: "f32" })]) {
        const { type, bytes } = store(tensor, raw);
        expect(type).toBe("F32");
        expect(read(type, bytes, 8)).toEqual(values);
      }
      const { type, bytes } = store(plain(dtype, { type: "f32", add: 1 }), raw);
      expect(read(type, bytes, 8)).toEqual(values.map((value) => value + 1));
    },
  );
});
