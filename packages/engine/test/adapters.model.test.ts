// LoRA adapters: what a request gets is what the model with the adapter merged into its weights would give, whatever other requests
// are computed with.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fitModel, load, type GenerationResult, type LoadedModel, type LoadOptions } from "@ingle/engine";
import {
  exactArithmetic,
  mergedTinyModel,
  tinyAdapter,
  tinyModel,
  type TinyAdapterOptions,
  type TinyModelOptions,
} from "@ingle/fixtures";
import { beforeAll, describe, expect, it } from "vitest";
import { prompts } from "./tiny.ts";

const options: LoadOptions = { threads: 1, contextLength: 512, parallel: 8, ...exactArithmetic };

const kinds: TinyModelOptions[] = [
  {},
  { architecture: "lfm2" },
  { architecture: "gemma3" },
  { architecture: "qwen3" },
  { architecture: "phi3" },
];

async function withAdapters(model: TinyModelOptions, extra: LoadOptions = {}): Promise<LoadedModel> {
  const adapters = [
    { name: "first", path: await tinyAdapter({ model }) },
    { name: "second", path: await tinyAdapter({ model, seed: 2, rank: 8 }) },
  ];
  return await load(await tinyModel(model), { ...options, adapters, ...extra });
}

async function ask({ model }: LoadedModel, prompt: string, extra: object = {}): Promise<GenerationResult> {
  return await model.generate({ prompt, temperature: 0, maxTokens: 24, logprobs: 3, ...extra });
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

const [prompt = "", second = "", third = ""] = prompts(3);

describe.each(kinds)("an adapter of a tiny model, %o", (model) => {
  it("gives what the model with merged weights gives", async () => {
    await using loaded = await withAdapters(model);
    const merge = async (
      merged: Omit<TinyAdapterOptions, "model"> & { scale?: number },
    ): Promise<GenerationResult> => {
      await using whole = await load(await mergedTinyModel({ model, ...merged }), options);
      return await ask(whole, prompt);
    };
    const base = await ask(loaded, prompt);
    const adapted = await ask(loaded, prompt, { adapters: [{ id: "first" }] });
    expect(adapted.text).not.toBe(base.text);
    expect(difference(adapted, await merge({}))).toBeLessThan(1e-3);
    const half = await ask(loaded, prompt, { adapters: [{ id: "second", scale: 0.5 }] });
    expect(difference(half, await merge({ seed: 2, rank: 8, scale: 0.5 }))).toBeLessThan(1e-3);
  });

  it("changes nothing at scale 0, and nothing for later requests without it", async () => {
    await using loaded = await withAdapters(model);
    await using plain = await load(await tinyModel(model), options);
    const base = await ask(plain, prompt);
    await ask(loaded, prompt, { adapters: [{ id: "first" }] });
    expect(
      difference(await ask(loaded, prompt, { adapters: [{ id: "first", scale: 0 }] }), base),
    ).toBeLessThan(1e-4);
    expect(difference(await ask(loaded, prompt), base)).toBeLessThan(1e-4);
  });
});

const uses = [
  [],
  [{ id: "first" }],
  [{ id: "second" }],
  [{ id: "first", scale: -0.5 }],
  [{ id: "first" }, { id: "second", scale: 0.5 }],
];

describe.each<{ name: string; model: TinyModelOptions; places: [string, LoadOptions][] }>([
  {
    name: "a llama",
    model: {},
    places: [
      ["in this process", {}],
      ["with few cells", { cells: 600, cacheRamMiB: 64 }],
      ["in a process of its own", { engine: "process" }],
    ],
  },
  { name: "an lfm2", model: { architecture: "lfm2" }, places: [["in this process", {}]] },
])("requests with different adapters, $name", ({ model, places }) => {
  // The same prompts for all: state that is shared between sets of adapters would show.
  const asked = [prompt, second, third].flatMap((each) => uses.map((adapters) => ({ each, adapters })));
  const alone: string[] = [];
  beforeAll(async () => {
    for (const { each, adapters } of asked) {
      await using fresh = await withAdapters(model);
      alone.push((await ask(fresh, each, { adapters, maxTokens: 60 })).text);
    }
  });

  it("get a text each", () => {
    expect(new Set(alone).size).toBe(asked.length);
  });

  it.each(places)("get the texts that they get alone, all at once, %s", async (_, place) => {
    await using loaded = await withAdapters(model, place);
    for (let round = 0; round < 3; round += 1) {
      const together = await Promise.all(
        asked.map(async ({ each, adapters }) => (await ask(loaded, each, { adapters, maxTokens: 60 })).text),
      );
      expect(together).toEqual(alone);
    }
  });
});

describe("the prefix cache", () => {
  const long = "The river is quiet tonight, and nobody asks why. ".repeat(20);
  const first = { adapters: [{ id: "first" }] };

  it("shares prefixes within a set of adapters and never between two", async () => {
    await using loaded = await withAdapters({});
    const cached = async (extra: object): Promise<number> =>
      (await ask(loaded, long, extra)).usage.cachedTokens;
    expect(await cached({})).toBe(0);
    expect(await cached(first)).toBe(0);
    expect(await cached({ adapters: [{ id: "first", scale: 0.5 }] })).toBe(0);
    expect(await cached({ adapters: [{ id: "first" }, { id: "second" }] })).toBe(0);
    expect(await cached(first)).toBeGreaterThan(100);
    expect(await cached({ adapters: [{ id: "first" }, { id: "second", scale: 0 }] })).toBeGreaterThan(100);
    expect(await cached({})).toBeGreaterThan(100);
  });

  it("keeps state over a restart for adapters of the same contents, whatever their names", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "ingle-adapters-"));
    const other = await tinyAdapter({ model: {}, seed: 3 });
    const same = await tinyAdapter({ model: {} });
    const live = async (adapters: LoadOptions["adapters"], name: string): Promise<GenerationResult> => {
      await using loaded = await load(await tinyModel(), { ...options, adapters, cacheDir: folder });
      return await ask(loaded, long, { adapters: [{ id: name }] });
    };
    try {
      const before = await live([{ name: "first", path: same }], "first");
      expect((await live([{ name: "first", path: other }], "first")).usage.cachedTokens).toBe(0);
      const renamed = [
        { name: "first", path: other },
        { name: "renamed", path: same },
      ];
      const after = await live(renamed, "renamed");
      expect(after.usage.cachedTokens).toBeGreaterThan(100);
      expect(difference(after, before)).toBeLessThan(1e-3);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("speculation", () => {
  it.each<[string, () => Promise<LoadOptions>]>([
    ["n-grams", async () => ({ speculation: "ngram" })],
    ["a draft model", async () => ({ draftModel: await tinyModel({ seed: 7, layers: 1 }) })],
  ])("with %s changes no text of an adapter", async (_, drafts) => {
    await using plain = await withAdapters({});
    await using drafted = await withAdapters({}, await drafts());
    const repeated = "one two three one two three one two three ".repeat(6);
    for (const adapters of uses) {
      const expected = await ask(plain, repeated, { adapters, maxTokens: 80 });
      expect((await ask(drafted, repeated, { adapters, maxTokens: 80 })).text).toBe(expected.text);
    }
  });
});

describe("a request", () => {
  it("names the adapters that there are when it asks for another", async () => {
    await using loaded = await withAdapters({});
    expect(loaded.model.info.adapters).toEqual(["first", "second"]);
    const wrong = { prompt, adapters: [{ id: "first" }, { id: "third" }] };
    expect(() => loaded.model.generate(wrong)).toThrow(
      expect.objectContaining({ code: "invalid_request", details: { param: "adapters[1].id" } }),
    );
  });
});

describe("the memory plan", () => {
  it("counts an adapter's tensors", async () => {
    const budget = { byMemory: { "": 2 ** 40 } };
    const file = await tinyModel();
    const bytes = async (adapters: LoadOptions["adapters"]): Promise<number> =>
      (await fitModel(file, { ...options, adapters }, { budget })).footprint.weightsBytes;
    const one = await tinyAdapter({ model: {}, rank: 64 });
    const more = (await bytes([{ name: "one", path: one }])) - (await bytes([]));
    // Seven matrices of two layers, of 64 to 256 rows and columns.
    expect(more).toBeGreaterThan(2 * 7 * 64 * 64 * 4);
    expect(more).toBeLessThan(2 * 7 * 64 * 512 * 4);
  });
});
