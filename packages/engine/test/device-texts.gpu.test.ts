// What a GPU computes: with all layers on it or some, the texts, probabilities and vectors of the processor, but for rounding.
import { load, type GenerationResult, type LoadedModel, type LoadOptions, type Model } from "@ingle/engine";
import { exactArithmetic, tinyAdapter, tinyAudioModel, tinyModel, tinyVisionModel } from "@ingle/fixtures";
import { beforeAll, describe, expect, it } from "vitest";
import { firstDevice } from "./device.ts";
import { anAudio, anImage, prompts } from "./tiny.ts";

/**
 * The largest difference of a log probability on the way to the first token for which two were about equally likely: there, texts
 * may part. Vulkan computes in 16 bits, and rounds keys and values of several heads to them, whatever type the cache has. Measured
 * were 1.05e-2 (qwen3 and lfm2), and 7.5e-3 (llama) where the device does not compute in 16 bits (GGML_VK_DISABLE_F16=1). Where
 * rounding gives a token other experts, 5.3e-2.
 */
const rounding = 0.03;
const roundingOfExperts = 0.1;
/**
 * A projector multiplies in 16 bits on the device. Measured for audio were 0.14, and less than 0.1 where the device does not compute
 * in 16 bits.
 */
const roundingOfImages = 0.1;
const roundingOfAudio = 0.25;

const models = [
  { name: "a llama", fixture: {}, layers: 2, most: rounding },
  { name: "a qwen3", fixture: { architecture: "qwen3" }, layers: 2, most: rounding },
  { name: "a phi3", fixture: { architecture: "phi3" }, layers: 2, most: rounding },
  { name: "a gemma3 with a sliding window", fixture: { architecture: "gemma3" }, layers: 2, most: rounding },
  { name: "a hybrid, lfm2", fixture: { architecture: "lfm2" }, layers: 4, most: rounding },
  {
    name: "a hybrid with experts, lfm2moe",
    fixture: { architecture: "lfm2moe" },
    layers: 4,
    most: roundingOfExperts,
  },
] as const;

/** Short ones, one of several batches, and two with a common prefix. */
const requests = [...prompts(4), "long ".repeat(150), "A shared start. Yes?", "A shared start. No?"];

let device: string;
beforeAll(async () => {
  device = (await firstDevice()).name;
});

async function withLayers(fixture: object, gpuLayers: number, options: LoadOptions): Promise<LoadedModel> {
  const sizes = { threads: 1, contextLength: 512, batchTokens: 64, parallel: 4 };
  return load(await tinyModel(fixture), { ...sizes, ...options, gpuLayers });
}

async function replies(
  { model }: LoadedModel,
  chooseAdapters: (index: number) => { id: string }[] = () => [],
): Promise<GenerationResult[]> {
  const generations = requests.map((prompt, index) =>
    model.generate({ prompt, temperature: 0, maxTokens: 24, logprobs: 2, adapters: chooseAdapters(index) }),
  );
  return Promise.all(generations.map(async (generation) => generation));
}

/** How many tokens were the same before texts parted where two were about equally likely, in all texts together. */
function commonTokens(
  expected: readonly GenerationResult[],
  found: readonly GenerationResult[],
  most: number,
): number {
  let count = 0;
  for (const [index, { logprobs = [] }] of expected.entries()) {
    for (const [at, token] of logprobs.entries()) {
      const [first, second] = token.top;
      const other = found[index]?.logprobs?.[at];
      const isSame = other?.bytes.toString() === token.bytes.toString();
      if (!isSame && (first?.logprob ?? 0) - (second?.logprob ?? 0) < 2 * most) break;
      expect(isSame, `text ${index}, token ${at}`).toBe(true);
      expect(Math.abs((other?.logprob ?? 0) - token.logprob)).toBeLessThan(most);
      count += 1;
    }
  }
  return count;
}

describe.each(models)("$name", ({ fixture, layers, most }) => {
  it("generates the processor's texts with all layers on the GPU, and with half of them", async () => {
    await using processor = await withLayers(fixture, 0, exactArithmetic);
    const expected = await replies(processor);
    expect(new Set(expected.map(({ text }) => text)).size).toBe(requests.length);
    for (const gpuLayers of [layers + 1, layers / 2]) {
      await using loaded = await withLayers(fixture, gpuLayers, exactArithmetic);
      expect(commonTokens(expected, await replies(loaded), most)).toBeGreaterThan(requests.length);
    }
  });
});

describe("replies at once, each token drawn from the likeliest", () => {
  const users = 16;
  const maxTokens = 16;

  it("bring back the likeliest alone, use graphs again, and are the processor's", async () => {
    const generateAll = async (gpuLayers: "all" | 0) => {
      const sizes = { threads: 2, contextLength: 256, batchTokens: 256, parallel: users };
      await using loaded = await load(await tinyModel({}), { ...sizes, ...exactArithmetic, gpuLayers });
      const sampling = { temperature: 0.8, topK: 40, topP: 0.95, repeatPenalty: 1.1, ignoreEos: true };
      const ask = async (_: unknown, seed: number): Promise<GenerationResult> =>
        loaded.model.generate({ prompt: `${seed} asks`, maxTokens, ...sampling, seed });
      const results = await Promise.all(Array.from({ length: users }, ask));
      return { texts: results.map(({ text }) => text), ...loaded.model.stats() };
    };
    const processor = await generateAll(0);
    const gpu = await generateAll("all");
    // A software device selects nothing: it would take long, and no bus is spared.
    const isSoftware = /llvmpipe|SwiftShader/.test((await firstDevice()).description);
    const likeliest = 128 * 8 * users * maxTokens;
    expect(gpu.outputBytes).toBe(isSoftware ? processor.outputBytes : likeliest);
    expect(gpu.graphsBuilt).toBeLessThan(gpu.steps);
    expect(gpu.deviceUs).toBeGreaterThan(0);
    expect(gpu.deviceUs).toBeLessThanOrEqual(gpu.launchUs + gpu.waitUs + gpu.graphUs + gpu.sampleUs);
    expect(processor.deviceUs).toBe(0);
    // They part sooner or later, where a number falls between two shares that are rounded differently.
    const begin = 6;
    const same = gpu.texts.filter(
      (text, user) => text.slice(0, begin) === processor.texts[user]?.slice(0, begin),
    );
    expect(same.length).toBeGreaterThan(users / 2);
  });
});

describe.each(models.filter(({ name }) => !name.includes("experts")))("LoRA adapters of $name", (model) => {
  it("change the texts as on the processor, with all layers on the GPU, and with half of them", async () => {
    const { fixture, layers, most } = model;
    const adapters = await Promise.all(
      [1, 2].map(async (seed) => ({ name: `${seed}`, path: await tinyAdapter({ model: fixture, seed }) })),
    );
    // Requests with none, the first, the second and both are computed together.
    const chooseAdapters = (index: number): { id: string }[] =>
      adapters.filter((_, at) => ((index >> at) & 1) === 1).map(({ name }) => ({ id: name }));
    const options = { ...exactArithmetic, adapters };
    await using processor = await withLayers(fixture, 0, options);
    const expected = await replies(processor, chooseAdapters);
    const without = await replies(processor);
    const changed = expected.filter(({ text }, index) => text !== without[index]?.text);
    expect(changed.length).toBeGreaterThan(requests.length / 2);
    for (const gpuLayers of [layers + 1, layers / 2]) {
      await using loaded = await withLayers(fixture, gpuLayers, options);
      expect(commonTokens(expected, await replies(loaded, chooseAdapters), most)).toBeGreaterThan(
        requests.length,
      );
    }
  });
});

/** The largest difference of the log probabilities of one token after each of the prompts. */
async function difference(one: Model, other: Model): Promise<number> {
  const probabilities = async (model: Model, prompt: string): Promise<Map<string, number>> => {
    const asked = { prompt, temperature: 0, maxTokens: 1, logprobs: 20, cachePrompt: false };
    const { logprobs = [] } = await model.generate(asked);
    return new Map(logprobs[0]?.top.map(({ bytes, logprob }) => [bytes.join(" "), logprob]));
  };
  let largest = 0;
  for (const prompt of requests) {
    const [expected, found] = [await probabilities(one, prompt), await probabilities(other, prompt)];
    const common = [...expected].filter(([token]) => found.has(token));
    expect(common.length).toBeGreaterThan(10);
    for (const [token, logprob] of common)
      largest = Math.max(largest, Math.abs(logprob - (found.get(token) ?? Infinity)));
  }
  return largest;
}

// Flash attention adds in 16 bits on a GPU, and beside 4 bits the processor also rounds queries to 8: measured were 0.05 and 0.29. The
// same types on both sides: what is stored is rounded alike.
describe.each([
  { kvBits: 16, type: "f16", most: 0.05 },
  { kvBits: 8, type: "q8_0", most: 0.05 },
  { kvBits: 4, type: "q4_0", most: 0.5 },
] as const)("a KV cache of $kvBits bits", ({ kvBits, type, most }) => {
  it("gives about the processor's probabilities", async () => {
    await using processor = await withLayers({}, 0, { kvTypeK: type, kvTypeV: type });
    await using gpu = await withLayers({}, 3, { kvBits });
    expect(await difference(processor.model, gpu.model)).toBeLessThan(most);
    expect(gpu.model.info.kvBytesPerToken).toBe(processor.model.info.kvBytesPerToken);
  });
});

describe("a KV cache of 3 bits", () => {
  it("is refused where the GPU has no kernels for it, with what to do instead", async () => {
    const { backend } = await firstDevice();
    if (backend === "CUDA") return; // it has them: ggml-cuda/q3-kv.cu
    await expect(withLayers({}, 3, { kvBits: 3 })).rejects.toMatchObject({
      code: "invalid_request",
      message: `${device} has no kernels for a KV cache with keys in q3_kv and values in q3_kv. Use 16, 8 or 4 bits for both, or compute on the CPU.`,
    });
    await using processor = await withLayers({}, 0, { kvBits: 3 });
    expect((await processor.model.generate({ prompt: "On the processor", maxTokens: 4 })).text).not.toBe("");
  });
});

describe.each(["bert", "lfm2", "gemma3"] as const)("embeddings of a %s", (architecture) => {
  it("are those of the processor", async () => {
    await using processor = await withLayers({ architecture }, 0, { flashAttention: "off" });
    await using gpu = await withLayers({ architecture }, 5, { flashAttention: "off" });
    const expected = (await processor.model.embed(prompts(12))).embeddings;
    const found = (await gpu.model.embed(prompts(12))).embeddings;
    for (const [index, vector] of expected.entries()) {
      const cosine = vector.reduce((sum, value, at) => sum + value * (found[index]?.[at] ?? 0), 0);
      expect(cosine).toBeGreaterThan(0.9999);
    }
  });
});

describe.each([
  { kind: "an encoder", fixture: { architecture: "bert", pooling: "rank" } },
  {
    kind: "a model that generates",
    fixture: { architecture: "qwen3", pooling: "rank", rerankTemplate: "{query}\n{document}\n" },
  },
] as const)("scores of $kind that reranks", ({ fixture }) => {
  it("are those of the processor", async () => {
    const scores = async (gpuLayers: number): Promise<number[]> => {
      await using loaded = await withLayers(fixture, gpuLayers, { flashAttention: "off" });
      return (await loaded.model.rerank("a quiet river in winter", prompts(12))).scores;
    };
    const [expected, found] = [await scores(0), await scores(5)];
    const spread = Math.max(...expected) - Math.min(...expected);
    for (const [index, score] of expected.entries())
      expect(Math.abs(score - (found[index] ?? Infinity))).toBeLessThan(spread / 20);
  });
});

describe.each([
  {
    what: "images that a lfm2",
    make: async () => tinyVisionModel({ architecture: "lfm2" }),
    parts: [anImage()],
    most: roundingOfImages,
  },
  {
    what: "images that a gemma3",
    make: async () => tinyVisionModel({ architecture: "gemma3" }),
    parts: [anImage()],
    most: roundingOfImages,
  },
  {
    what: "images that a qwen2vl",
    make: async () => tinyVisionModel({ architecture: "qwen2vl" }),
    parts: [anImage()],
    most: roundingOfImages,
  },
  {
    what: "audio that a lfm2",
    make: async () => tinyAudioModel({ architecture: "lfm2", audio: "ultravox" }),
    parts: [anAudio()],
    most: roundingOfAudio,
  },
  {
    what: "an image and audio that a qwen2vl",
    make: async () => tinyVisionModel({ architecture: "qwen2vl", audio: "qwen2a" }),
    parts: [anImage(), anAudio()],
    most: roundingOfAudio,
  },
])("$what reads", ({ make, parts, most }) => {
  it("give the processor's text, with the projector on the GPU", async () => {
    const { model, projector } = await make();
    const ask = async (gpuLayers: number): Promise<GenerationResult> => {
      const options = { threads: 1, contextLength: 2048, ...exactArithmetic, gpuLayers, mmproj: projector };
      await using loaded = await load(model, options);
      const content = [{ type: "text" as const, text: "What is this?" }, ...parts];
      const messages = [{ role: "user" as const, content }];
      const asked = { messages, temperature: 0, maxTokens: 12, ignoreEos: true, logprobs: 2 };
      return await loaded.model.generate(asked);
    };
    const [expected, found] = [await ask(0), await ask(5)];
    expect(commonTokens([expected], [found], most)).toBeGreaterThan(1);
  });
});
