import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { memoryNeed, peekFacts, peekFile, type ModelFacts } from "./model-facts.ts";
import { fakeGguf } from "@ingle/fixtures/fake-gguf";

/** Reads from bytes and counts how many were requested. */
function reader(bytes: Buffer): { facts: Promise<ModelFacts>; asked: () => number } {
  let asked = 0;
  const facts = peekFacts("it", async (start, end) => {
    asked = Math.max(asked, end);
    return bytes.subarray(start, end);
  });
  return { facts, asked: () => asked };
}

test("a header gives architecture, quantization, context and cache bytes per token", async () => {
  const bytes = fakeGguf({ kvHeads: [0, 8, 0, 8], contextLength: 32_768 });
  // Two layers with 8 heads of 64 keys and 64 values, of 2 bytes each; the convolutions store nothing.
  const expected = {
    architecture: "lfm2",
    quantization: "Q4_K_M",
    contextLength: 32_768,
    cacheBytesPerToken: 2 * 8 * 128 * 2,
  };
  expect(await reader(bytes).facts).toMatchObject(expected);
});

test("memory is weights, the cache of the default context, and compute buffers", () => {
  const facts = { contextLength: 32_768, cacheBytesPerToken: 1024 };
  expect(memoryNeed(1e9, facts)).toBe(1e9 + 32_768 * 1024 + 256 * 1024 * 1024);
  expect(memoryNeed(1e9, { ...facts, contextLength: 512 })).toBe(1e9 + 8 * 512 * 1024 + 256 * 1024 * 1024);
  expect(memoryNeed(1e9, { contextLength: undefined, cacheBytesPerToken: undefined })).toBe(
    1e9 + 256 * 1024 * 1024,
  );
});

test("only the first bytes are read if the facts precede the tokenizer", async () => {
  const { facts, asked } = reader(fakeGguf({ dataBytes: 4_000_000 }));
  await facts;
  expect(asked()).toBe(256 * 1024);
});

test("more is read if the first bytes do not contain the facts", async () => {
  const { facts, asked } = reader(fakeGguf({ name: "x".repeat(600_000) }));
  expect(await facts).toMatchObject({ architecture: "lfm2" });
  expect(asked()).toBe(1024 * 1024);
});

test("a damaged header is model_invalid, wherever it is cut", async () => {
  const bytes = fakeGguf();
  const dataAt = bytes.indexOf("tokenizer.ggml.model");
  for (let length = 0; length < dataAt; length += 7) {
    const { facts } = reader(bytes.subarray(0, length));
    await expect(facts, `cut to ${length}`).rejects.toMatchObject({ code: "model_invalid" });
  }
});

test.each(["", "\u001B[2J", "a b", "x".repeat(65)])("an architecture %j is invalid", async (architecture) => {
  await expect(reader(fakeGguf({ architecture })).facts).rejects.toMatchObject({ code: "model_invalid" });
});

test("impossible numbers are ignored", async () => {
  const { facts } = reader(fakeGguf({ contextLength: 4_294_967_295, kvHeads: [4_294_967_295] }));
  expect(await facts).toMatchObject({ contextLength: undefined, cacheBytesPerToken: undefined });
});

test("another kind of file is reported as such", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-facts-"));
  try {
    const file = path.join(folder, "page.gguf");
    await writeFile(file, "<html>Sign in</html>");
    await expect(peekFile(file)).rejects.toMatchObject({
      code: "model_invalid",
      message: `${file} is not a GGUF file.`,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
