// Each family as a whole: a tiny folder is converted, and llama.cpp computes the same as with a GGUF file of the same weights
// that was written directly.
import { mkdtemp, open, readdir, rename, rm, truncate, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { load } from "@ingle/engine";
import type { LoadedModel } from "@ingle/engine";
import { makeMlxFolder } from "@ingle/fixtures";
import type { MlxFolderOptions } from "@ingle/fixtures";
import { aligned, readGguf } from "@ingle/gguf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { convertFolder } from "../src/convert-folder.ts";

let home = "";
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "ingle-mlx-families-"));
});
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
});

/** Letters, numbers and spaces of all kinds. */
const HARD_TEXT =
  "\n \n\t\t  3 33 333 3.3..3 I'VE 'tis ¿qué? straße Москва ελληνικά 漢字かな한국어 กำลัง हिन्दी 🦙🏽‍🚀 ﷽ e\u0301 " +
  '____----==== https://x.y/z?q=1 </s><s> {"a": [1]} \u00a0\u2003end ';

interface Pair {
  imported: string;
  reference: string;
}

async function makePair(name: string, options: MlxFolderOptions, isExact: boolean): Promise<Pair> {
  const folder = path.join(home, name);
  const [imported, reference] = [`${folder}.gguf`, `${folder}-reference.gguf`];
  await makeMlxFolder(folder, reference, options);
  await convertFolder(folder, imported, { exact: isExact });
  return { imported, reference };
}

/** The bytes of every tensor, by name. */
async function readTensors(file: string): Promise<Map<string, { shape: readonly number[]; bytes: Buffer }>> {
  const { tensors, bytes: headerBytes } = await readGguf(file);
  await using handle = await open(file, "r");
  const read = async (offset: number, length: number): Promise<Buffer> => {
    const bytes = Buffer.alloc(length);
    await handle.read(bytes, 0, length, aligned(headerBytes) + offset);
    return bytes;
  };
  const entries = tensors.map(async ({ name, shape, offset, sizeBytes }) => {
    return [name, { shape, bytes: await read(offset, sizeBytes) }] as const;
  });
  return new Map(await Promise.all(entries));
}

async function loadExact(file: string): Promise<LoadedModel> {
  return load(file, { threads: 1, contextLength: 256, flashAttention: "off" });
}

/** The likeliest tokens and their log probabilities, step by step. */
async function responses({ model }: LoadedModel, prompt: string) {
  const result = await model.generate({ prompt, temperature: 0, maxTokens: 4, logprobs: 5 });
  return result.logprobs ?? [];
}

const families: readonly MlxFolderOptions[] = [
  { model: { architecture: "llama" }, bits: 4, groupSize: 32 },
  { model: { architecture: "qwen2" }, bits: 8, shards: 3 },
  { model: { architecture: "qwen3" }, bits: 6 },
  { model: { architecture: "gemma3" }, bits: 3, groupSize: 32 },
  { model: { architecture: "phi3" }, bits: 5 },
  { model: { architecture: "lfm2" }, bits: 4, overrides: { "model.embed_tokens": { bits: 8 } } },
  {
    model: { architecture: "lfm2moe" },
    bits: 4,
    overrides: { "model.layers.0.feed_forward.up_proj": false },
  },
];

describe.each(families)("$model.architecture", (options) => {
  const name = options.model?.architecture ?? "llama";
  let pair: Pair;
  beforeAll(async () => {
    const model = { ...options.model, weights: "f16", contextLength: 256 } as MlxFolderOptions["model"]; // of one family
    pair = await makePair(name, { ...options, model }, true);
  });

  it("has the same tensors as the file of the same weights, and the same bits if the types are equal", async () => {
    const [imported, reference] = [await readTensors(pair.imported), await readTensors(pair.reference)];
    expect([...imported.keys()].toSorted()).toEqual([...reference.keys()].toSorted());
    let equal = 0;
    for (const [key, { shape, bytes }] of reference) {
      expect(imported.get(key)?.shape, key).toEqual(shape);
      if (imported.get(key)?.bytes.length !== bytes.length) continue;
      expect(imported.get(key)?.bytes.equals(bytes), key).toBe(true);
      equal += 1;
    }
    expect(equal).toBeGreaterThan(2);
  });

  it("computes the same as that file, and splits texts alike", async () => {
    await using imported = await loadExact(pair.imported);
    await using reference = await loadExact(pair.reference);
    const tokens = await imported.model.tokenizer.encode(HARD_TEXT);
    expect(Array.from(tokens)).toEqual(Array.from(await reference.model.tokenizer.encode(HARD_TEXT)));
    expect(tokens.length).toBeGreaterThan(100);
    const [ours, theirs] = [
      await responses(imported, "river copper"),
      await responses(reference, "river copper"),
    ];
    expect(ours).toHaveLength(4);
    // Blocks of 4 and 5 bits are multiplied by vectors rounded to 8 bits, each rounding by at most 1/254 of the largest of 32;
    // over two layers that is some hundredths of the logits' deviation of 3. F16 has no such difference.
    // If two tokens are nearly equally likely, the texts may diverge; nothing after that can be compared.
    const parted = theirs.findIndex(
      ({ bytes }, step) => !Buffer.from(bytes).equals(ours[step]?.bytes ?? Buffer.alloc(0)),
    );
    const compared = parted === -1 ? theirs : theirs.slice(0, parted + 1);
    for (const [step, { logprob }] of compared.entries())
      expect(Math.abs((ours[step]?.logprob ?? 99) - logprob), `step ${step}`).toBeLessThan(0.35);
  });
});

describe("a folder that is damaged", () => {
  let folder = "";
  const target = () => path.join(home, "damaged.gguf");
  beforeAll(async () => {
    folder = path.join(home, "damaged");
    const options: MlxFolderOptions = { shards: 2, model: { layers: 1, embedding: 64 } };
    await makeMlxFolder(folder, path.join(home, "whole.gguf"), options);
  });

  it("by a missing shard, a truncated one or a missing config.json is refused, and nothing is left behind", async () => {
    const shard = path.join(folder, "model-00002-of-00002.safetensors");
    await rename(shard, `${shard}.away`);
    await expect(convertFolder(folder, target())).rejects.toMatchObject({ code: "mlx_missing" });
    await rename(`${shard}.away`, shard);
    const config = path.join(folder, "config.json");
    await rename(config, `${config}.away`);
    await expect(convertFolder(folder, target())).rejects.toMatchObject({ code: "mlx_missing" });
    await rename(`${config}.away`, config);
    await truncate(shard, 1000);
    await expect(convertFolder(folder, target())).rejects.toMatchObject({ code: "mlx_truncated" });
    await unlink(shard);
    expect((await readdir(home)).filter((file) => file.startsWith("damaged."))).toEqual([]);
  });

  it("by sizes that contradict its settings is refused", async () => {
    const other = path.join(home, "other");
    const options: MlxFolderOptions = { model: { layers: 1 }, config: { intermediate_size: 256 } };
    await makeMlxFolder(other, path.join(home, "other-reference.gguf"), options);
    await expect(convertFolder(other, target())).rejects.toMatchObject({ code: "mlx_malformed" });
  });
});
