import { mkdtemp, readFile, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sha256Hex } from "@ingle/fixtures/fake-hub";
import { bytesInLog, rangeLogPath, RangedFile } from "./ranged-file.ts";

const bytes = Buffer.from(Array.from({ length: 200 }, (_, index) => index));
const content = { sizeBytes: bytes.length, sha256: sha256Hex(bytes) };
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-ranged-"));
  file = path.join(folder, "x.part");
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** One chunk of the bytes. */
async function* from(start: number, end: number): AsyncGenerator<Buffer> {
  yield bytes.subarray(start, end);
}

test("ranges written in any order, over any number of attempts, become the whole file", async () => {
  const edge = fc.integer({ min: 0, max: bytes.length });
  const ranges = fc.array(fc.tuple(edge, edge), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(ranges, fc.integer({ min: 1, max: 64 }), async (written, pieceBytes) => {
      const there = new Set<number>();
      for (const [a, b] of written) {
        const [start, end] = [Math.min(a, b), Math.max(a, b)];
        await using ranged = await RangedFile.open(file, content);
        expect(ranged.bytes).toBe(there.size);
        await ranged.write(start, from(start, end), () => {});
        for (let at = start; at < end; at += 1) there.add(at);
      }
      await using ranged = await RangedFile.open(file, content);
      const missing = ranged.missing(pieceBytes);
      expect(missing.every(({ start, end }) => end > start && end - start <= pieceBytes)).toBe(true);
      expect(missing.reduce((sum, { start, end }) => sum + end - start, 0)).toBe(bytes.length - there.size);
      for (const { start, end } of missing) await ranged.write(start, from(start, end), () => {});
      expect(await ranged.isRight(() => {}, new AbortController().signal)).toBe(true);
      await rm(file);
      await rm(rangeLogPath(file));
    }),
    { numRuns: 30 },
  );
});

test("bytes before a break are kept", async () => {
  const broken = async function* (): AsyncGenerator<Buffer> {
    yield bytes.subarray(0, 50);
    throw new Error("cut");
  };
  await using ranged = await RangedFile.open(file, content);
  await expect(ranged.write(0, broken(), () => {})).rejects.toThrow("cut");
  expect(await bytesInLog(file, content)).toBe(50);
});

test("a log cut at any byte never claims missing bytes", async () => {
  {
    await using ranged = await RangedFile.open(file, content);
    await ranged.write(0, from(0, 100), () => {});
    await ranged.write(120, from(120, 200), () => {});
  }
  const log = await readFile(rangeLogPath(file));
  for (let length = log.length; length >= 0; length -= 1) {
    await truncate(rangeLogPath(file), length);
    const claimed = await bytesInLog(file, content);
    expect([0, 100, 180]).toContain(claimed);
    if (length < log.length) expect(claimed).toBeLessThan(180);
  }
});

test("other contents start a new file", async () => {
  {
    await using ranged = await RangedFile.open(file, content);
    await ranged.write(0, from(0, 100), () => {});
  }
  await using other = await RangedFile.open(file, { ...content, sha256: "0".repeat(64) });
  expect(other.bytes).toBe(0);
  expect(other.missing(1000)).toEqual([{ start: 0, end: 200 }]);
});
