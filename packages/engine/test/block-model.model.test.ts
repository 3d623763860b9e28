// The models of real sizes that measurements make on machines to which no model was brought: small here, but of the same blocks.
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { load } from "@ingle/engine";
import { makeBlockModel, type TinyModelOptions } from "@ingle/fixtures";
import { afterAll, beforeAll, expect, it } from "vitest";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-blocks-"));
});
afterAll(() => rm(folder, { recursive: true }));

const sizes = { tokens: 4_000, embedding: 256, feedForward: 512, layers: 4 };

it.each<[what: string, options: TinyModelOptions]>([
  ["a llama", sizes],
  [
    "an lfm2 with experts",
    { ...sizes, architecture: "lfm2moe", heads: 4, kvHeads: 2, experts: 8, expertsUsed: 3 },
  ],
])(
  "%s of random blocks is as small as Q4_K_M, and its text depends on the whole prompt",
  async (_, options) => {
    const file = path.join(folder, `${options.architecture ?? "llama"}.gguf`);
    await makeBlockModel(file, options);
    await using loaded = await load(file, { threads: 1, contextLength: 256 });
    const { quantization, parameters, sizeBytes } = loaded.model.info;
    expect(quantization).toBe("Q4_K_M");
    expect((await stat(file)).size).toBeGreaterThan(sizeBytes - 1);
    expect((8 * sizeBytes) / parameters).toBeLessThan(7);
    const ask = async (prompt: string) =>
      loaded.model.generate({ prompt, maxTokens: 24, temperature: 0, logprobs: 3, ignoreEos: true });
    const results = await Promise.all(["One and two", "Two and two", "One and two"].map(ask));
    const [one = "", other, again] = results.map(({ text }) => text);
    expect(again).toBe(one);
    expect(other).not.toBe(one);
    const likelihoods = results.flatMap(({ logprobs = [] }) => logprobs.map(({ logprob }) => logprob));
    expect(likelihoods).toHaveLength(3 * 24);
    // Neither certain nor all alike.
    expect(Math.max(...likelihoods)).toBeLessThan(-0.001);
    expect(Math.min(...likelihoods)).toBeGreaterThan(-Math.log(sizes.tokens));
  },
);
