// Whole files: planned tensors from shards, in order and in their types, against the folder's weights one by one.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { aligned, halfBits, parseGguf, type GgufTensorInfo } from "@ingle/gguf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { ModelPlan, TensorPlan } from "./architectures/architecture.ts";
import type { MlxErrorCode } from "./errors.ts";
import { readQuantization } from "./quantization.ts";
import type { StoredType } from "./storage.ts";
import { ggmlValue, half } from "../test/ggml-values.ts";
import { packCodes } from "../test/quantized-rows.ts";
import { f32, safetensorsBytes, type TensorBytes } from "../test/safetensors-bytes.ts";
import { Weights } from "./weights.ts";
import { writeModel, type ConversionReport, type ConvertOptions } from "./write-model.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-write-model-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const columns = 64;
const codeAt = (row: number, column: number): number => (7 * row + column) % 16;
const rowScale = (row: number): number => half(halfBits(0.01 * (row + 1)));
const weightAt = (row: number, column: number): number =>
  Math.fround(Math.fround(rowScale(row) * codeAt(row, column)) - 1);

/** A module of these rows, 4 bits in groups of 64, with one scale per row and a bias of -1. */
function quantized(module: string, rows: readonly number[], bits = 4): Record<string, TensorBytes> {
  const all = Array.from({ length: columns }, (_, column) => column);
  const packed = rows.map((row) =>
    packCodes(
      all.map((column) => codeAt(row, column)),
      bits,
    ),
  );
  const halves = (values: number[]): Uint8Array =>
    new Uint8Array(Uint16Array.from(values.map(halfBits)).buffer);
  const groups = { dtype: "F16" as const, shape: [rows.length, 1] };
  return {
    [`${module}.weight`]: {
      dtype: "U32",
      shape: [rows.length, (columns * bits) / 32],
      bytes: Buffer.concat(packed),
    },
    [`${module}.scales`]: { ...groups, bytes: halves(rows.map(rowScale)) },
    [`${module}.biases`]: { ...groups, bytes: halves(rows.map(() => -1)) },
  };
}

interface Written {
  report: ConversionReport;
  tensors: readonly GgufTensorInfo[];
  /** The values of a tensor, in order. */
  values: (name: string, type: StoredType) => number[];
}

async function write(
  shards: Record<string, Record<string, TensorBytes>>,
  tensors: readonly TensorPlan[],
  more: Partial<ModelPlan> & { options?: ConvertOptions } = {},
): Promise<Written> {
  for (const [name, made] of Object.entries(shards))
    await writeFile(path.join(folder, name), safetensorsBytes(made));
  await using weights = await Weights.open(folder);
  const settings = readQuantization({
    modelType: "llama",
    fields: { quantization: { group_size: 64, bits: 4 } },
  });
  const target = path.join(folder, "out.gguf");
  const { options, ...rest } = more;
  const plan = { metadata: new Map(), vocabulary: 1, tensors, ...rest };
  const report = await writeModel(target, { plan, tokenizer: new Map(), settings, weights }, options);
  const bytes = await readFile(target);
  const header = parseGguf(bytes, { fileBytes: bytes.length });
  const values = (name: string, type: StoredType): number[] => {
    const { offset, shape } = header.tensors.find((tensor) => tensor.name === name)!;
    const data = bytes.subarray(aligned(header.bytes) + offset);
    const count = shape.reduce((product, size) => product * size, 1);
    return Array.from({ length: count }, (_, index) => ggmlValue(type, data, index));
  };
  return { report, tensors: header.tensors, values };
}

function rowWeights(rows: readonly number[]): number[] {
  return rows.flatMap((row) => Array.from({ length: columns }, (_, column) => weightAt(row, column)));
}

async function failure(writing: Promise<unknown>): Promise<MlxErrorCode> {
  const error: unknown = await writing.then(
    () => expect.fail("it should have failed"),
    (reason: unknown) => reason,
  );
  // Nothing is left behind.
  expect((await readdir(folder)).filter((name) => name.includes("gguf"))).toEqual([]);
  return Reflect.get(error as Error, "code") as MlxErrorCode;
}

const matrix = (name: string, source: string, rows: number): TensorPlan => ({
  name,
  sources: [source],
  shape: [columns, rows],
});

describe("a planned model", () => {
  it("is written from all shards, with the constants first", async () => {
    const shards = {
      "model-00001-of-00002.safetensors": { ...quantized("a", [0, 1]), "n.weight": f32([3], [1, 2, 3]) },
      "model-00002-of-00002.safetensors": { ...quantized("b", [2, 3, 4]), "x.weight": f32([2], [1, 2]) },
    };
    const tensors = [
      matrix("blk.b", "b.weight", 3),
      { name: "norm", sources: ["n.weight"], shape: [3], add: 1 },
      matrix("blk.a", "a.weight", 2),
    ];
    const constants = [{ name: "factors", values: Float32Array.of(0.5, 2) }];
    const { report, values, tensors: written } = await write(shards, tensors, { constants });
    expect(written.map(({ name, typeCode, shape }) => [name, typeCode, ...shape])).toEqual([
      ["factors", 0, 2],
      ["blk.b", 3, 64, 3],
      ["norm", 0, 3],
      ["blk.a", 3, 64, 2],
    ]);
    expect(values("factors", "F32")).toEqual([0.5, 2]);
    expect(values("blk.b", "Q4_1")).toEqual(rowWeights([2, 3, 4]));
    expect(values("norm", "F32")).toEqual([2, 3, 4]);
    expect(values("blk.a", "Q4_1")).toEqual(rowWeights([0, 1]));
    expect(report.unused).toEqual(["x.weight"]);
    expect(report.steps.map(({ from, to, tensors: count }) => [from, to, count])).toEqual([
      ["affine 4-bit, groups of 64", "Q4_1", 2],
      ["F32", "F32", 1],
    ]);
  });

  it("has reordered rows, and reordered values in vectors", async () => {
    const shards = {
      "model.safetensors": { ...quantized("a", [0, 1, 2, 3]), "a.bias": f32([4], [0, 1, 2, 3]) },
    };
    const rowOrder = Uint32Array.of(2, 0, 3, 1);
    const { values } = await write(shards, [
      { ...matrix("q", "a.weight", 4), rowOrder },
      { name: "bias", sources: ["a.bias"], shape: [4], rowOrder },
    ]);
    expect(values("q", "Q4_1")).toEqual(rowWeights([2, 0, 3, 1]));
    expect(values("bias", "F32")).toEqual([2, 0, 3, 1]);
  });

  it("may have stacks of several tensors, and tensors without their dimensions of 1", async () => {
    const shards = {
      "model.safetensors": {
        ...quantized("e0", [0, 1]),
        ...quantized("e1", [5, 6]),
        c: f32([2, 3, 1], [1, 2, 3, 4, 5, 6]),
      },
    };
    const { values, tensors } = await write(shards, [
      { name: "exps", sources: ["e0.weight", "e1.weight"], shape: [columns, 2, 2] },
      { name: "conv", sources: ["c"], shape: [3, 2] },
    ]);
    expect(tensors.map(({ shape }) => shape)).toEqual([
      [64, 2, 2],
      [3, 2],
    ]);
    expect(values("exps", "Q4_1")).toEqual(rowWeights([0, 1, 5, 6]));
    expect(values("conv", "F32")).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("is the same in many pieces as in one", async () => {
    // A row order without locality and more rows than a piece holds.
    const count = 20_000;
    const rows = Array.from({ length: count }, (_, row) => row % 50);
    const shards = { "model.safetensors": quantized("a", rows) };
    const rowOrder = Uint32Array.from({ length: count }, (_, row) => (row * 7) % count);
    const { values } = await write(shards, [
      matrix("straight", "a.weight", count),
      { ...matrix("mixed", "a.weight", count), rowOrder },
    ]);
    const straight = values("straight", "Q4_1");
    const mixed = values("mixed", "Q4_1");
    for (const row of [0, 1, 16_383, 16_384, 19_999]) {
      expect(straight.slice(row * columns, (row + 1) * columns)).toEqual(rowWeights([row % 50]));
      expect(mixed.slice(row * columns, (row + 1) * columns)).toEqual(rowWeights([rowOrder[row]! % 50]));
    }
  });

  it("stores a tensor again if it lost too much, and reports how it was stored", async () => {
    // 8-bit codes far from zero: Q8_0 would waste most of its range.
    const eight = quantized("a", [0, 1], 8);
    const biases = new Uint8Array(Uint16Array.of(halfBits(10), halfBits(10)).buffer);
    const scales = new Uint8Array(Uint16Array.of(halfBits(0.02), halfBits(0.02)).buffer);
    const shards = {
      "model.safetensors": {
        ...eight,
        "a.scales": { ...eight["a.scales"]!, bytes: scales },
        "a.biases": { ...eight["a.biases"]!, bytes: biases },
        ...quantized("b", [3]),
      },
    };
    const { report, tensors, values } = await write(shards, [
      matrix("t", "a.weight", 2),
      matrix("u", "b.weight", 1),
    ]);
    expect(tensors.map(({ typeCode }) => typeCode)).toEqual([1, 3]);
    const step = half(halfBits(0.02));
    expect(values("t", "F16")[9]).toBe(half(halfBits(10 + step * codeAt(0, 9))));
    expect(values("u", "Q4_1")).toEqual(rowWeights([3]));
    expect(report.steps[0]).toMatchObject({ from: "affine 8-bit, groups of 64", to: "F16", tensors: 1 });
    expect(report.steps[0]!.error.inSteps).toBeGreaterThan(0);
    expect(report.steps[0]!.error.inSteps).toBeLessThan(0.5);
  });

  it("reports progress, and leaves nothing behind when it is aborted", async () => {
    const shards = { "model.safetensors": { ...quantized("a", [0, 1]), ...quantized("b", [2]) } };
    const tensors = [matrix("t", "a.weight", 2), matrix("u", "b.weight", 1)];
    const seen: number[][] = [];
    await write(shards, tensors, { options: { onProgress: (...bytes) => seen.push(bytes) } });
    expect(seen).toEqual([
      [72, 108],
      [108, 108],
    ]);
    await rm(path.join(folder, "out.gguf"));
    const stop = new AbortController();
    const options = { signal: stop.signal, onProgress: () => stop.abort() };
    await failure(write(shards, tensors, { options }));
  });
});

describe("a folder that does not match the plan is refused:", () => {
  const shards = { "model.safetensors": { ...quantized("a", [0, 1]), n: f32([2, 3], [1, 2, 3, 4, 5, 6]) } };

  it.each([
    ["mlx_missing", { name: "t", sources: ["b.weight"], shape: [64, 2] }],
    ["mlx_malformed", { name: "t", sources: ["a.weight"], shape: [64, 3] }],
    ["mlx_malformed", { name: "t", sources: ["a.weight"], shape: [2, 64] }],
    ["mlx_malformed", { name: "t", sources: ["a.weight"], shape: [64, 2], rowOrder: Uint32Array.of(0) }],
    ["mlx_unsupported", { name: "t", sources: ["a.weight"], shape: [64, 2], add: 1 }],
    ["mlx_unsupported", { name: "t", sources: ["a.weight", "n"], shape: [64, 2, 2] }],
    ["mlx_unsupported", { name: "t", sources: ["a.scales", "n"], shape: [1, 2, 2] }],
  ])("%s", async (code, tensor) => {
    expect(await failure(write(shards, [tensor]))).toBe(code);
  });

  it("a shard is missing, or two shards have the same tensor", async () => {
    const lonely = { "model-00001-of-00002.safetensors": quantized("a", [0]) };
    expect(await failure(write(lonely, []))).toBe("mlx_missing");
    const twice = { ...lonely, "model-00002-of-00002.safetensors": quantized("a", [0]) };
    expect(await failure(write(twice, []))).toBe("mlx_malformed");
  });

  it.each([Number.NaN, Infinity])("a scale is %s", async (scale) => {
    const made = quantized("a", [0, 1]);
    const scales = new Uint8Array(Uint16Array.of(halfBits(1), halfBits(scale)).buffer);
    const broken = { "model.safetensors": { ...made, "a.scales": { ...made["a.scales"]!, bytes: scales } } };
    expect(await failure(write(broken, [matrix("t", "a.weight", 2)]))).toBe("mlx_malformed");
  });

  it("weights have an unsupported type", async () => {
    const integers = {
      "model.safetensors": { i: { dtype: "I32" as const, shape: [1], bytes: new Uint8Array(4) } },
    };
    expect(await failure(write(integers, [{ name: "t", sources: ["i"], shape: [1] }]))).toBe(
      "mlx_unsupported",
    );
  });
});
