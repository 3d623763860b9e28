// The reader against damaged headers: each is read or refused with an MlxError, at once.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { MlxError } from "./errors.ts";
import { parseSafetensorsHeader, readSafetensors } from "./safetensors.ts";
import { f32, joinFile, safetensorsBytes } from "../test/safetensors-bytes.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-safetensors-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const whole = safetensorsBytes({
  "model.norm.weight": f32([3], [1, 2, 3]),
  empty: f32([0, 4], []),
  "größe.weight": f32([2, 2], [4, 5, 6, 7]),
});
const headerBytes = Number(whole.readBigUInt64LE());

/** "read", or the code of the MlxError; any other error fails the test. */
function outcome(bytes: Buffer): string {
  try {
    const length = Number(bytes.readBigUInt64LE());
    parseSafetensorsHeader("model.safetensors", bytes.subarray(8, 8 + length), bytes.length);
    return "read";
  } catch (error) {
    if (error instanceof MlxError) return error.code;
    throw error;
  }
}

async function outcomeOfFile(bytes: Uint8Array): Promise<string> {
  const file = path.join(folder, "model.safetensors");
  await writeFile(file, bytes);
  try {
    await readSafetensors(file);
    return "read";
  } catch (error) {
    if (error instanceof MlxError) return error.code;
    throw error;
  }
}

/** A header with one entry under this name, over 16 bytes of data. */
function one(entry: unknown, name = "a"): string {
  return outcome(joinFile(JSON.stringify({ [name]: entry }), Buffer.alloc(16)));
}

describe("a whole file", () => {
  it("gives each tensor's offset", async () => {
    const file = path.join(folder, "whole.safetensors");
    await writeFile(file, whole);
    const { tensors, metadata } = await readSafetensors(file);
    const dataStart = 8 + headerBytes;
    expect([...tensors.values()]).toEqual([
      { name: "model.norm.weight", dtype: "F32", shape: [3], offset: dataStart, sizeBytes: 12 },
      { name: "empty", dtype: "F32", shape: [0, 4], offset: dataStart + 12, sizeBytes: 0 },
      { name: "größe.weight", dtype: "F32", shape: [2, 2], offset: dataStart + 12, sizeBytes: 16 },
    ]);
    expect(metadata.get("format")).toBe("mlx");
  });

  it("may have spaces after its header, as the format's own writers add them", () => {
    const header = `${JSON.stringify({ a: { dtype: "U8", shape: [1], data_offsets: [0, 1] } })}     `;
    expect(outcome(joinFile(header, Buffer.alloc(1)))).toBe("read");
  });
});

describe("a damaged file", () => {
  it("cut off at any byte is refused", async () => {
    for (let length = 0; length < whole.length; length += 1) {
      expect(await outcomeOfFile(whole.subarray(0, length)), `cut to ${length}`).toBe("mlx_truncated");
    }
  });

  it("with any byte of its header changed is read or refused", async () => {
    let refused = 0;
    for (let at = 0; at < 8 + headerBytes; at += 1) {
      for (const flip of [0x01, 0x10, 0x80, 0xff]) {
        const damaged = Buffer.from(whole);
        damaged[at] = (damaged[at] ?? 0) ^ flip;
        const result = at < 8 ? await outcomeOfFile(damaged) : outcome(damaged);
        if (result !== "read") refused += 1;
      }
    }
    // A changed letter of a name is still a name.
    expect(refused).toBeGreaterThan(2 * headerBytes);
  });

  it("of random bytes is read or refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        expect(await outcomeOfFile(bytes)).not.toBe("");
      }),
      { numRuns: 50 },
    );
  });

  it("that claims a huge header is refused before memory is allocated for it", async () => {
    for (const length of [2n ** 63n, 2n ** 40n, 100_000_000n]) {
      const start = Buffer.alloc(8);
      start.writeBigUInt64LE(length);
      expect(await outcomeOfFile(Buffer.concat([start, Buffer.from("{}")]))).toBe("mlx_limit");
    }
  });

  it("with JSON that is not an object, or is nested without end, is malformed", () => {
    const headers = ["", "[]", "null", "1", '"x"', "{", "[".repeat(100_000), '{"a":{"a":'.repeat(10_000)];
    for (const header of headers)
      expect(outcome(joinFile(header, Buffer.alloc(0))), header).toBe("mlx_malformed");
    const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(outcome(joinFile(deep, Buffer.alloc(0)))).toBe("mlx_malformed");
  });

  it("with a header that is not UTF-8 is malformed", () => {
    const damaged = Buffer.from(whole);
    damaged[damaged.indexOf("model")] = 0xff;
    expect(outcome(damaged)).toBe("mlx_malformed");
  });
});

describe("an entry", () => {
  it("of a float is read", () => {
    expect(one({ dtype: "F32", shape: [2, 2], data_offsets: [0, 16] })).toBe("read");
  });

  it.each([
    ["an unknown type", { dtype: "F31", shape: [4], data_offsets: [0, 16] }],
    ["a type that objects have by birth", { dtype: "constructor", shape: [4], data_offsets: [0, 16] }],
    ["a negative size", { dtype: "F32", shape: [-4], data_offsets: [0, 16] }],
    ["half a size", { dtype: "F32", shape: [0.5, 8], data_offsets: [0, 16] }],
    ["a size that is text", { dtype: "F32", shape: ["4"], data_offsets: [0, 16] }],
    ["sizes beyond any number", { dtype: "F32", shape: [2 ** 53, 4], data_offsets: [0, 16] }],
    [
      "sizes whose product is lost in rounding",
      { dtype: "U8", shape: [2 ** 52, 2 ** 52], data_offsets: [0, 16] },
    ],
    ["a negative place", { dtype: "F32", shape: [4], data_offsets: [-16, 0] }],
    ["an end before its start", { dtype: "F32", shape: [4], data_offsets: [16, 0] }],
    ["too few bytes", { dtype: "F32", shape: [4], data_offsets: [0, 15] }],
    ["a hole before it", { dtype: "F32", shape: [3], data_offsets: [4, 16] }],
    ["bytes behind it", { dtype: "F32", shape: [3], data_offsets: [0, 12] }],
    ["one place", { dtype: "F32", shape: [4], data_offsets: [0] }],
    ["no shape", { dtype: "F32", data_offsets: [0, 16] }],
    ["more than its three fields", { dtype: "F32", shape: [4], data_offsets: [0, 16], x: 1 }],
    ["nine dimensions", { dtype: "F32", shape: [4, 1, 1, 1, 1, 1, 1, 1, 1], data_offsets: [0, 16] }],
    ["nothing", null],
  ])("with %s is malformed", (_, entry) => {
    expect(one(entry)).toBe("mlx_malformed");
  });

  it("whose bytes are missing is truncated", () => {
    expect(one({ dtype: "F32", shape: [5], data_offsets: [0, 20] })).toBe("mlx_truncated");
  });

  it("with a name that is empty, too long or has control characters is malformed", () => {
    const entry = { dtype: "F32", shape: [4], data_offsets: [0, 16] };
    for (const name of ["", "x".repeat(2000), "a\u001b[2J"]) expect(one(entry, name)).toBe("mlx_malformed");
  });

  it("named like a property of every object is an ordinary tensor", () => {
    const header = '{"__proto__":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}';
    const bytes = joinFile(header, Buffer.alloc(16));
    const { tensors } = parseSafetensorsHeader("model.safetensors", Buffer.from(header), bytes.length);
    expect([...tensors.keys()]).toEqual(["__proto__"]);
  });

  it("that is listed twice, or that overlaps another, is malformed", () => {
    const entry = '{"dtype":"F32","shape":[4],"data_offsets":[0,16]}';
    for (const second of ["a", "\\u0061", "b"]) {
      const header = `{"a":${entry},"${second}":${entry}}`;
      expect(outcome(joinFile(header, Buffer.alloc(16))), second).toBe("mlx_malformed");
    }
  });

  it("of metadata that is not a string is malformed", () => {
    expect(one({ format: 1 }, "__metadata__")).toBe("mlx_malformed");
    expect(one("mlx", "__metadata__")).toBe("mlx_malformed");
  });
});
