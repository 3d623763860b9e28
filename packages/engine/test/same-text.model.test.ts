// On the processor, a request has the same probabilities bit for bit, whatever else is computed with it, however its prompt is cut,
// whether its prefix is cached or was swapped out, wherever its cells lie, and with every number of threads. The models are
// loaded with the defaults.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  buildInfo,
  load,
  quantizeModel,
  type GenerationRequest,
  type LoadOptions,
  type Model,
} from "@ingle/engine";
import { seededRandom, tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

type Fixture = NonNullable<Parameters<typeof tinyModel>[0]>;

/** Where products with quantized weights are our own: elsewhere, a row alone is computed in another way than several. */
const { cpuFeatures } = await buildInfo();
const hasPanels = cpuFeatures.includes("AVX2");

const wide = { embedding: 256, feedForward: 512, contextLength: 2048 };
const models: readonly { name: string; fixture: Fixture; level: string; options?: LoadOptions }[] = [
  { name: "a llama in Q4_K_M", fixture: wide, level: "Q4_K_M" },
  { name: "a llama with a cache of 8 bits", fixture: wide, level: "Q6_K", options: { kvBits: 8 } },
  { name: "an lfm2", fixture: { ...wide, architecture: "lfm2" }, level: "Q8_0" },
  {
    name: "an lfm2moe, whose router has floats",
    fixture: { ...wide, architecture: "lfm2moe" },
    level: "Q8_0",
  },
  { name: "a llama in F16", fixture: wide, level: "F16" },
  { name: "a qwen3", fixture: { ...wide, architecture: "qwen3" }, level: "Q5_K_M" },
  {
    name: "a gemma3 with a sliding window",
    fixture: { ...wide, architecture: "gemma3", window: 100 },
    level: "Q4_K_M",
  },
];

const vocabulary = ["river", "copper", "seven", "lantern", "orbit", "maple", "quiet", "harbour"];

/** Requests whose prompts have from 3 to 900 tokens, some with a long prefix in common; some are sampled. */
function requests(random: ReturnType<typeof seededRandom>, count: number): GenerationRequest[] {
  const below = (limit: number): number => random.uint32() % limit;
  const words = (length: number): string =>
    Array.from({ length }, () => vocabulary[below(vocabulary.length)]).join(" ");
  const prefixes = [words(150), words(40)];
  return Array.from({ length: count }, (_, seed) => {
    const prefix = below(2) === 0 ? `${prefixes[below(2)]} ` : "";
    const prompt = prefix + words(1 + below(below(3) === 0 ? 250 : 30));
    return { prompt, seed, temperature: below(2), maxTokens: 4 + below(20), logprobs: 2 };
  });
}

/** Everything about a reply that a client sees, with numbers as they are. */
async function reply(model: Model, request: GenerationRequest): Promise<unknown> {
  const { text, finishReason, logprobs } = await model.generate(request);
  return { text, finishReason, logprobs };
}

/** How a model can be loaded without a request having to notice. */
const conditions: readonly { name: string; options: LoadOptions }[] = [
  { name: "in small chunks", options: { batchTokens: 24, parallel: 4 } },
  { name: "with few prompt tokens beside replies", options: { batchTokensBusy: 7, parallel: 8 } },
  { name: "with too few cells for all", options: { cells: 2048, batchTokens: 64, parallel: 3 } },
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-same-text-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe.runIf(hasPanels).each(models)("$name", ({ name, fixture, level, options }) => {
  const random = seededRandom(1, name);
  const asked = requests(random, 16);
  let file: string;
  let expected: unknown[];

  beforeAll(async () => {
    const output = path.join(folder, `${name}.gguf`);
    file = (await quantizeModel(await tinyModel(fixture), { to: level, output })).path;
    await using alone = await load(file, { ...options, threads: 1, parallel: 1 });
    expected = [];
    for (const request of asked) expected.push(await reply(alone.model, { ...request, cachePrompt: false }));
  });

  it.each(conditions)("gives the same replies $name", async (condition) => {
    await using loaded = await load(file, { threads: 1, ...options, ...condition.options });
    for (let round = 0; round < 2; round += 1) {
      const shuffled = [...asked.entries()].toSorted(() => (random.uint32() % 2) - 0.5);
      const replies = await Promise.all(
        shuffled.map(async ([index, request]) => [index, await reply(loaded.model, request)] as const),
      );
      for (const [index, got] of replies) expect(got).toEqual(expected[index]);
    }
  });

  it("gives the same replies with several threads", async () => {
    const few = asked.slice(0, 2).map((request) => ({ ...request, maxTokens: 2 }));
    await using alone = await load(file, { ...options, threads: 1 });
    const wanted = await Promise.all(few.map(async (request) => await reply(alone.model, request)));
    for (const threads of [2, 7]) {
      await using loaded = await load(file, { ...options, threads });
      expect(await Promise.all(few.map(async (request) => await reply(loaded.model, request)))).toEqual(
        wanted,
      );
    }
  });
});

it.runIf(hasPanels)("drafts do not change a reply", async () => {
  const output = path.join(folder, "drafting.gguf");
  const file = (await quantizeModel(await tinyModel(wide), { to: "Q4_K_M", output })).path;
  // The text of a tiny model does not repeat itself unless only four tokens are allowed.
  const fewTokens = { logitBias: { 400: 60, 500: 60, 600: 60, 700: 60 } };
  const prompt = "The keeper rings the bell, and the boats come home. ".repeat(60); // several parts of attention
  const request = { prompt, seed: 1, temperature: 0.2, maxTokens: 200, logprobs: 2, ...fewTokens };
  await using plain = await load(file, { threads: 1 });
  await using drafting = await load(file, { threads: 1, speculation: "ngram" });
  const expected = await reply(plain.model, request);
  // How many drafts a step has depends on how long steps have taken: a busy machine may need several replies for them.
  do expect(await reply(drafting.model, request)).toEqual(expected);
  while (drafting.model.stats().acceptedTokens <= 20);
});
