// Control vectors: what a request gets is what the model with the vectors in its biases would give, whatever other requests are computed
// with.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fitModel, load, type GenerationResult, type LoadedModel, type LoadOptions } from "@ingle/engine";
import {
  exactArithmetic,
  steeredTinyModel,
  tinyAdapter,
  tinyControlVector,
  tinyModel,
  writeGguf,
  type TinyModelOptions,
} from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prompts } from "./tiny.ts";

const options: LoadOptions = { threads: 1, contextLength: 512, parallel: 8, ...exactArithmetic };
const model: TinyModelOptions = { layers: 4 };
const sparse = { model, seed: 2, layers: [2] };
const [prompt = "", second = ""] = prompts(2);

async function withVectors(of: TinyModelOptions = model, extra: LoadOptions = {}): Promise<LoadedModel> {
  const adapters = [
    { name: "calm", path: await tinyControlVector({ model: of }) },
    { name: "law", path: await tinyAdapter({ model: of }) },
    { name: "bold", path: await tinyControlVector({ ...sparse, model: of }) },
  ];
  return await load(await tinyModel(of), { ...options, adapters, ...extra });
}

async function ask(
  { model: loaded }: LoadedModel,
  text: string,
  extra: object = {},
): Promise<GenerationResult> {
  return await loaded.generate({ prompt: text, temperature: 0, maxTokens: 24, logprobs: 3, ...extra });
}

/** The largest difference of the log probabilities of two equal texts. */
function difference(one: GenerationResult, other: GenerationResult): number {
  expect(one.text).toBe(other.text);
  const logprobs = (result: GenerationResult): number[] =>
    (result.logprobs ?? []).flatMap(({ logprob, top }) => [logprob, ...top.map((each) => each.logprob)]);
  const others = logprobs(other);
  expect(others.length).toBeGreaterThan(24);
  return Math.max(...logprobs(one).map((logprob, at) => Math.abs(logprob - (others[at] ?? NaN))));
}

async function steered(...args: Parameters<typeof steeredTinyModel>): Promise<GenerationResult> {
  await using loaded = await load(await steeredTinyModel(...args), options);
  return await ask(loaded, prompt);
}

describe("a request with control vectors", () => {
  it.each([
    ["one", [{ id: "calm" }], [{ model, scale: 1 }]],
    ["a weaker one", [{ id: "calm", scale: 0.25 }], [{ model, scale: 0.25 }]],
    ["the opposite of one", [{ id: "calm", scale: -1 }], [{ model, scale: -1 }]],
    ["one of a single layer", [{ id: "bold", scale: 2 }], [{ ...sparse, scale: 2 }]],
    [
      "two",
      [{ id: "calm", scale: 0.5 }, { id: "bold" }],
      [
        { model, scale: 0.5 },
        { ...sparse, scale: 1 },
      ],
    ],
  ])("gets what the model with %s in its biases gives", async (_, adapters, vectors) => {
    await using loaded = await withVectors();
    const base = await ask(loaded, prompt);
    const result = await ask(loaded, prompt, { adapters });
    expect(result.text).not.toBe(base.text);
    expect(difference(result, await steered(vectors))).toBeLessThan(1e-3);
    expect(difference(await ask(loaded, prompt), base)).toBeLessThan(1e-4);
  });

  it("gets those of the layer range only", async () => {
    await using loaded = await withVectors(model, { controlVectorLayers: { first: 2, last: 2 } });
    const result = await ask(loaded, prompt, { adapters: [{ id: "calm" }] });
    expect(difference(result, await steered([{ model, layers: [2], scale: 1 }]))).toBeLessThan(1e-3);
  });
});

const uses = [
  [],
  [{ id: "calm" }],
  [{ id: "bold" }],
  [{ id: "law" }],
  [{ id: "calm", scale: -0.5 }],
  [{ id: "calm", scale: 0.5 }, { id: "law" }, { id: "bold" }],
];

describe.each<{ name: string; of: TinyModelOptions; extra: LoadOptions }>([
  { name: "a llama", of: model, extra: {} },
  { name: "an lfm2", of: { architecture: "lfm2", layers: 4 }, extra: {} },
  { name: "a gemma3", of: { architecture: "gemma3", layers: 4 }, extra: {} },
  { name: "a llama with few cells", of: model, extra: { cells: 600, cacheRamMiB: 64 } },
  { name: "a llama in a process of its own", of: model, extra: { engine: "process" } },
])("requests with different vectors, $name", ({ of, extra }) => {
  it("get the texts that they get alone, all at once", async () => {
    await using loaded = await withVectors(of, extra);
    // The same prompts for all: state that is shared between sets of adapters would show.
    const asked = [prompt, second].flatMap((each) => uses.map((adapters) => ({ each, adapters })));
    const alone: string[] = [];
    await using calm = await withVectors(of);
    for (const { each, adapters } of asked)
      alone.push((await ask(calm, each, { adapters, cachePrompt: false })).text);
    expect(new Set(alone).size).toBe(asked.length);
    for (let round = 0; round < 2; round += 1) {
      const together = await Promise.all(
        asked.map(async ({ each, adapters }) => (await ask(loaded, each, { adapters })).text),
      );
      expect(together).toEqual(alone);
    }
  });
});

describe("the prefix cache", () => {
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(path.join(tmpdir(), "ingle-vectors-"))));
  afterAll(async () => await rm(folder, { recursive: true, force: true }));
  const long = "The river is quiet tonight, and nobody asks why. ".repeat(20);

  it("keeps state over a restart only for the same layers", async () => {
    const live = async (controlVectorLayers: LoadOptions["controlVectorLayers"]): Promise<number> => {
      await using loaded = await withVectors(model, { controlVectorLayers, cacheDir: folder });
      const { usage } = await ask(loaded, long, { adapters: [{ id: "calm" }] });
      return usage.cachedTokens;
    };
    expect(await live(undefined)).toBe(0);
    expect(await live({ first: 2, last: 3 })).toBe(0);
    expect(await live({ first: 2, last: 3 })).toBeGreaterThan(100);
  });
});

describe("a control vector that does not fit", () => {
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(path.join(tmpdir(), "ingle-vectors-"))));
  afterAll(async () => await rm(folder, { recursive: true, force: true }));

  async function refusal(
    tensors: readonly { name: string; shape: number[]; value?: number }[],
    extra: LoadOptions = {},
  ): Promise<unknown> {
    const file = path.join(folder, "vector.gguf");
    const values = (shape: number[], value: number): Float32Array =>
      new Float32Array(shape.reduce((product, side) => product * side, 1)).fill(value);
    await writeGguf(file, {
      metadata: new Map([["general.architecture", { type: "string", value: "controlvector" }]]),
      tensors: tensors.map(({ name, shape, value = 1 }) => ({
        name,
        shape,
        type: "f32",
        values: () => [values(shape, value)],
      })),
    });
    const loading = load(await tinyModel(model), {
      ...options,
      adapters: [{ name: "a", path: file }],
      ...extra,
    });
    return await loading.then(
      (loaded) => loaded[Symbol.asyncDispose](),
      (error: unknown) => error,
    );
  }

  it.each([
    ["the first layer", [{ name: "direction.0", shape: [64] }], "model_invalid", /first layer/],
    ["a later layer", [{ name: "direction.4", shape: [64] }], "adapter_mismatch", /layer 4.*last one is 3/],
    ["another width", [{ name: "direction.1", shape: [32] }], "adapter_mismatch", /32 values.*64/],
    ["a matrix", [{ name: "direction.1", shape: [64, 2] }], "adapter_mismatch", /64 x 2/],
    ["something else", [{ name: "blk.1.ffn", shape: [64] }], "model_invalid", /blk\.1\.ffn/],
    ["no numbers", [{ name: "direction.1", shape: [64], value: NaN }], "model_invalid", /no numbers/],
    ["nothing", [], "model_invalid", /no tensors/],
  ])("because it is for %s is refused", async (_, tensors, code, message) => {
    expect(await refusal(tensors)).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it("or changes none of the layers that it may is refused", async () => {
    const range = { controlVectorLayers: { first: 3, last: 9 } };
    expect(await refusal([{ name: "direction.1", shape: [64] }], range)).toMatchObject({
      code: "adapter_mismatch",
      message: expect.stringContaining("none of the layers 3 to 9"),
    });
    expect(await refusal([{ name: "direction.3", shape: [64] }], range)).toBeUndefined();
  });
});

describe("the memory plan", () => {
  it("counts a vector's directions", async () => {
    const file = await tinyModel(model);
    const bytes = async (adapters: LoadOptions["adapters"]): Promise<number> =>
      (await fitModel(file, { ...options, adapters }, { budget: { byMemory: { "": 2 ** 40 } } })).footprint
        .weightsBytes;
    const one = [{ name: "calm", path: await tinyControlVector({ model }) }];
    const more = (await bytes(one)) - (await bytes([]));
    expect(more).toBeGreaterThanOrEqual(2 * 3 * 64 * 4);
    expect(more).toBeLessThan(2 * 4 * 64 * 4);
  });
});
