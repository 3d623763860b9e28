// The reader against damaged headers: each is read or refused with a GgufError, at once and without allocating memory
// for what the file only claims.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { GgufError } from "./errors.ts";
import { aligned } from "./format.ts";
import { parseGguf, parseGgufKeys, parsePartialGguf, readGguf } from "./header.ts";
import { HeaderBytes, sampleHeader } from "../test/header-bytes.ts";
import { writeGguf } from "./writer.ts";

const whole = sampleHeader();
const headerBytes = whole.bytes.length;
const fileBytes = aligned(headerBytes) + 64 + 68;

/** Zero, one, and the edges of every integer type on the way. */
const extremes = [
  0n,
  1n,
  2n ** 16n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
];

/** "read", or the code of the GgufError. Any other error is thrown. */
function parseOutcome(parse: () => unknown): string {
  try {
    parse();
    return "read";
  } catch (error) {
    if (error instanceof GgufError) return error.code;
    throw error;
  }
}

/** The outcome of reading a damaged header in full; reading it in part must not fail in another way either. */
function outcome(bytes: Uint8Array): string {
  parseOutcome(() => parsePartialGguf(bytes));
  return parseOutcome(() => parseGguf(bytes, { fileBytes }));
}

function thrownCode(header: HeaderBytes): string {
  return parseOutcome(() => parseGguf(header.bytes));
}

describe("a whole header", () => {
  it("is read from a file however long its lists are", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "ingle-header-"));
    try {
      const file = path.join(folder, "long.gguf");
      const values = Array.from({ length: 200_000 }, (_, index) => `token number ${index}`);
      await writeGguf(file, { metadata: new Map([["tokens", { type: "string", values }]]) });
      const { metadata, bytes } = await readGguf(file);
      expect(bytes).toBeGreaterThan(4 * 1024 * 1024);
      expect(metadata.get("tokens")).toEqual({ type: "string", values });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("is read, with the offsets of its tensors", () => {
    const { metadata, tensors, bytes } = parseGguf(whole.bytes, { fileBytes });
    expect(metadata.get("name")).toEqual({ type: "string", value: "Größe" });
    expect(metadata.get("list")).toEqual({ type: "string", values: ["a", "", "bc"] });
    expect(metadata.get("wide")).toEqual({ type: "uint64", value: 7n });
    expect(tensors).toEqual([
      { name: "first", typeCode: 0, shape: [16], offset: 0, sizeBytes: 64 },
      { name: "second", typeCode: 8, shape: [32, 2], offset: 64, sizeBytes: 68 },
    ]);
    expect(bytes).toBe(headerBytes);
  });

  it("is read from its first bytes as far as they go", () => {
    const all = parsePartialGguf(whole.bytes);
    expect(all.isComplete).toBe(true);
    expect(all.metadata.size).toBe(7);
    const half = parsePartialGguf(whole.bytes.subarray(0, 120));
    expect(half.isComplete).toBe(false);
    expect([...half.metadata.keys()]).toEqual(["general.architecture", "general.alignment"]);
  });
});

describe("single keys", () => {
  const all = (): boolean => true;

  it("are read among values of every kind, and the others are skipped", () => {
    expect(parseGgufKeys(whole.bytes, all)).toEqual(parseGguf(whole.bytes).metadata);
    for (const [name, value] of parseGguf(whole.bytes).metadata)
      expect([...parseGgufKeys(whole.bytes, (key) => key === name)]).toEqual([[name, value]]);
    expect(parseGgufKeys(whole.bytes, () => false).size).toBe(0);
  });

  it("of a damaged header are read, or refused with a GgufError", () => {
    const read = (bytes: Buffer, wanted: () => boolean): string =>
      parseOutcome(() => parseGgufKeys(bytes, wanted));
    const seen = new Set<string>();
    for (let at = 0; at < headerBytes; at++) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const damaged = Buffer.from(whole.bytes);
        damaged[at] = (damaged[at] ?? 0) ^ flip;
        const [whenRead = "", whenSkipped = ""] = [all, () => false].map((wanted) => read(damaged, wanted));
        seen.add(whenRead).add(whenSkipped);
        if (whenRead === "read") expect(whenSkipped, `${at} ${flip}`).toBe("read");
      }
      expect(read(whole.bytes.subarray(0, at), () => false)).toMatch(/read|gguf_truncated/);
    }
    for (const code of seen) expect(code).toMatch(/^(read|not_gguf|gguf_\w+)$/);
  });
});

describe("a damaged header", () => {
  it("cut off at any byte is called truncated, and the keys before the cut are still read", () => {
    for (let length = 0; length < headerBytes; length++) {
      const cut = whole.bytes.subarray(0, length);
      expect(outcome(cut), `cut to ${length}`).toBe("gguf_truncated");
      if (length >= 24) expect(parsePartialGguf(cut).metadata.size).toBeLessThanOrEqual(7);
    }
  });

  it("with any byte changed is read or refused", () => {
    let refused = 0;
    for (let at = 0; at < headerBytes; at++) {
      for (const flip of [0x01, 0x04, 0x80, 0xff]) {
        const damaged = Buffer.from(whole.bytes);
        damaged[at] = (damaged[at] ?? 0) ^ flip;
        if (outcome(damaged) !== "read") refused += 1;
      }
    }
    // A changed letter of a name is still a name; most other changes are not.
    expect(refused).toBeGreaterThan(headerBytes);
  });

  it("with any field at an extreme is read or refused, in bounded memory", () => {
    expect(whole.fields.length).toBeGreaterThan(40);
    const before = process.memoryUsage();
    for (const { at, bytes } of whole.fields) {
      for (const extreme of extremes) {
        const damaged = Buffer.from(whole.bytes);
        if (bytes === 8) damaged.writeBigUInt64LE(extreme, at);
        else damaged.writeUInt32LE(Number(BigInt.asUintN(32, extreme)), at);
        expect(() => outcome(damaged)).not.toThrow();
      }
    }
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(32 * 1024 * 1024);
    expect(after.rss - before.rss).toBeLessThan(256 * 1024 * 1024);
  });

  it("with any count or length at 2^64 - 1 exceeds a limit", () => {
    const lengths = whole.fields.filter(({ name }) => /length|count/.test(name));
    for (const { name, at } of lengths) {
      const damaged = Buffer.from(whole.bytes);
      damaged.writeBigUInt64LE(2n ** 64n - 1n, at);
      expect(outcome(damaged), name).toBe("gguf_limit");
    }
  });

  it("of random bytes after the first four is read or refused", () => {
    const count = fc.integer({ min: 0, max: 3 });
    fc.assert(
      fc.property(count, count, fc.uint8Array({ maxLength: 200 }), (tensors, keys, rest) => {
        outcome(new HeaderBytes().start(tensors, keys).raw(rest).bytes);
      }),
    );
  });

  it("that claims a long array is refused before memory is allocated for it", () => {
    const header = new HeaderBytes().start(0, 1).text("key", "k");
    header
      .uint32("array type", 9)
      .uint32("item type", 6)
      .uint64("item count", 2 ** 21);
    expect(thrownCode(header)).toBe("gguf_truncated");
  });

  it("of another kind of file, or of another version, is named as such", async () => {
    await expect(readGguf(fileURLToPath(import.meta.url))).rejects.toMatchObject({ code: "not_gguf" });
    const future = Buffer.from(whole.bytes);
    future.writeUInt32LE(4, 4);
    expect(outcome(future)).toBe("gguf_version");
  });

  it("with a repeated key or tensor, a nested array or an unknown value type is malformed", () => {
    const twice = new HeaderBytes().start(0, 2);
    for (const _ of [1, 2]) twice.text("key", "k").uint32("type", 4).uint32("value", 1);
    expect(thrownCode(twice)).toBe("gguf_malformed");
    const tensors = new HeaderBytes().start(2, 0);
    for (const offset of [0, 64]) tensors.tensor("same", { shape: [16], type: 0, offset });
    expect(thrownCode(tensors)).toBe("gguf_malformed");
    for (const [type, item] of [
      [9, 9],
      [13, 0],
    ] as const) {
      const value = new HeaderBytes().start(0, 1).text("key", "k");
      value.uint32("type", type).uint32("item type", item).uint64("item count", 1);
      expect(thrownCode(value)).toBe("gguf_malformed");
    }
  });

  it("with invalid UTF-8 is refused, or read with replacements if asked to", () => {
    const header = new HeaderBytes().start(0, 1).text("key", "k").uint32("string type", 8);
    header.uint64("length", 2).raw(Buffer.of(0xc3, 0x28));
    expect(thrownCode(header)).toBe("gguf_malformed");
    const { metadata } = parseGguf(header.bytes, { isLenient: true });
    expect(metadata.get("k")).toEqual({ type: "string", value: "\uFFFD(" });
  });
});

describe("the list of tensors", () => {
  const one = (tensor: { shape: number[]; type: number; offset: number }): HeaderBytes =>
    new HeaderBytes().start(1, 0).tensor("one", tensor);

  it("with tensors that overlap is malformed", () => {
    const header = new HeaderBytes().start(2, 0);
    header.tensor("a", { shape: [16], type: 0, offset: 32 }).tensor("b", { shape: [16], type: 0, offset: 0 });
    expect(thrownCode(header)).toBe("gguf_malformed");
  });

  it("with an unaligned offset is malformed", () => {
    expect(thrownCode(one({ shape: [16], type: 0, offset: 16 }))).toBe("gguf_malformed");
  });

  it.each([0, 3, 48, 131_072])("with an alignment of %i is malformed", (alignment) => {
    const header = new HeaderBytes().start(0, 1).text("key", "general.alignment");
    expect(thrownCode(header.uint32("uint32 type", 4).uint32("alignment", alignment))).toBe("gguf_malformed");
  });

  it.each([4, 31, 43, 4_294_967_295])("with the type %i is malformed", (type) => {
    expect(thrownCode(one({ shape: [256], type, offset: 0 }))).toBe("gguf_malformed");
  });

  it("with rows that are not a whole number of blocks is malformed", () => {
    expect(thrownCode(one({ shape: [33], type: 8, offset: 0 }))).toBe("gguf_malformed");
  });

  it("with sizes whose product is not a safe integer is malformed", () => {
    const size = 2 ** 52;
    expect(thrownCode(one({ shape: [size, size, size, size], type: 0, offset: 0 }))).toBe("gguf_malformed");
    expect(thrownCode(one({ shape: [size], type: 0, offset: 2 ** 53 - 32 }))).toBe("gguf_malformed");
  });

  it("with more than four dimensions is malformed", () => {
    expect(thrownCode(one({ shape: [1, 1, 1, 1, 1], type: 0, offset: 0 }))).toBe("gguf_malformed");
  });

  it("that ends after the file is truncated, and the missing bytes are counted", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "ingle-header-"));
    try {
      const file = path.join(folder, "short.gguf");
      const padded = Buffer.concat([whole.bytes, Buffer.alloc(fileBytes - headerBytes)]);
      await writeFile(file, padded);
      expect((await readGguf(file)).tensors).toHaveLength(2);
      await writeFile(file, padded.subarray(0, -5));
      await expect(readGguf(file)).rejects.toThrow(
        expect.objectContaining({ code: "gguf_truncated", message: expect.stringContaining("5 bytes") }),
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
