import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { readGguf } from "@ingle/gguf";
import { expect, it } from "vitest";
import { writeRandomModel } from "./random-model.ts";

it("is a llama with heads of the size asked for, named after it", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "ingle-random-"));
  try {
    const file = await writeRandomModel(folder, 128);
    expect(path.basename(file)).toBe("random-llama-heads-of-128.gguf");
    const { metadata } = await readGguf(file);
    for (const key of ["key_length", "value_length"])
      expect(metadata.get(`llama.attention.${key}`)).toEqual({ type: "uint32", value: 128 });
  } finally {
    await rm(folder, { recursive: true });
  }
});
