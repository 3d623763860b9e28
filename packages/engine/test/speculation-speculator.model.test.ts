// Drafts of speculators (EAGLE-3, DSpark), which read the hidden states of the model that they were made for: they change no text.
import { load, type LoadedModel } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  expectDraftsTakenBack,
  expectFreedWhenCancelled,
  expectRest,
  expectSameTextsWhenPreempted,
} from "./drafted-texts.ts";
import { loadExact, loadTiny, prompts } from "./tiny.ts";

/** Enough layers, and few enough tokens, that a draft costs little beside a step of the model. */
const heavy = { layers: 10, tokens: 4000, weights: "f32" } as const;
const eagle3 = { architecture: "eagle3", tokens: 4000 } as const;
const dspark = { architecture: "dflash", isDspark: true, tokens: 4000, blockSize: 6 } as const;

describe.each([
  { of: "llama", name: "EAGLE-3", speculator: eagle3 },
  { of: "llama", name: "DSpark", speculator: { ...dspark, hasOwnMatrices: false } },
  { of: "lfm2", name: "EAGLE-3", speculator: eagle3 },
  { of: "lfm2", name: "DSpark", speculator: { ...dspark, hasOwnMatrices: false } },
] as const)("a speculator: $name for $of", ({ of: architecture, speculator }) => {
  const options = { contextLength: 600, parallel: 8 };
  const model = { architecture, memoryless: true, ...heavy } as const;
  let plain: LoadedModel;
  let drafting: LoadedModel;
  let draftModel: string;
  beforeAll(async () => {
    draftModel = await tinyModel({ ...speculator, drafts: "right" });
    plain = await loadExact({ ...options, speculation: "off" }, model);
    drafting = await loadExact({ ...options, draftModel }, model);
  });
  afterAll(async () => {
    await plain[Symbol.asyncDispose]();
    await drafting[Symbol.asyncDispose]();
  });

  it("makes several tokens a step, and the same greedy and seeded texts", async () => {
    for (const [seed, prompt] of prompts(4).entries()) {
      for (const sampling of [{ temperature: 0 }, { temperature: 0.4, topK: 20, seed }]) {
        const request = { prompt, ...sampling, maxTokens: 150 };
        const expected = await plain.model.generate(request);
        const result = await drafting.model.generate(request);
        expect(result.text).toBe(expected.text);
        expect(result.usage.completionTokens).toBe(expected.usage.completionTokens);
      }
    }
    await expectDraftsTakenBack(drafting);
  });

  it("changes no text of eight requests at once, some preempted or cancelled", async () => {
    await using tight = await loadExact({ contextLength: 400, cells: 700, parallel: 6, draftModel }, model);
    await expectSameTextsWhenPreempted(tight, plain);
  });

  it("leaves nothing behind when requests are cancelled, and the next request is correct", async () => {
    const request = { prompt: "round and round", temperature: 0, maxTokens: 300 };
    await expectFreedWhenCancelled(drafting, request, { rounds: 6, piecesPerRound: 7 });
    const expected = await plain.model.generate(request);
    expect((await drafting.model.generate(request)).text).toBe(expected.text);
  });

  it("that is nearly always wrong rests, and changes no text", async () => {
    const random = await tinyModel(speculator);
    await using wrong = await loadExact({ ...options, draftModel: random }, { architecture, ...heavy });
    await using without = await loadExact({ ...options, speculation: "off" }, { architecture, ...heavy });
    await expectRest(wrong, without);
  });
});

describe("a speculator with a vocabulary of its own", () => {
  /** All tokens, in another order. */
  const draftTokens = Array.from({ length: heavy.tokens }, (_, index) => heavy.tokens - 1 - index);

  it("drafts the model's tokens", async () => {
    const draftModel = await tinyModel({ ...eagle3, drafts: "right", draftTokens });
    const model = { memoryless: true, ...heavy };
    await using drafting = await loadExact({ contextLength: 600, draftModel }, model);
    await expectDraftsTakenBack(drafting);
    await using plain = await loadExact({ contextLength: 600, speculation: "off" }, model);
    const request = { prompt: "round and round", temperature: 0, maxTokens: 100 };
    expect((await drafting.model.generate(request)).text).toBe((await plain.model.generate(request)).text);
  });

  it("is refused if its table of tokens is damaged", async () => {
    for (const wrong of [heavy.tokens, -1]) {
      const draftModel = await tinyModel({ ...eagle3, draftTokens: draftTokens.with(7, wrong) });
      await expect(loadExact({ contextLength: 256, draftModel }, heavy)).rejects.toMatchObject({
        code: "model_invalid",
        message: expect.stringMatching(/table of tokens \(d2t\) is damaged/),
      });
    }
  });
});

describe("a speculator that does not fit", () => {
  const options = { contextLength: 256, parallel: 2 };

  it("is refused as a model of its own, with what to do", async () => {
    for (const architecture of ["eagle3", "dflash"] as const) {
      await expect(load(await tinyModel({ architecture }), options)).rejects.toMatchObject({
        code: "model_unsupported",
        message: expect.stringMatching(
          /not a model of its own.*Load that model, with this file as its draft model/,
        ),
      });
    }
  });

  it("is refused with what differs", async () => {
    for (const [other, why] of [
      [{ targetLayers: [0, 1, 9] }, /reads layer 9, and this model has 2.*made for this model/],
      [{ embedding: 128 }, /hidden states of 128 numbers, and this model's have 64/],
      [{ vocabulary: "qwen2" }, /vocabularies differ/],
    ] as const) {
      const draftModel = await tinyModel({ ...eagle3, targetLayers: [0, 1, 1], tokens: 32_000, ...other });
      await expect(loadTiny({ ...options, draftModel })).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.stringMatching(why),
      });
    }
  });

  it("is refused by name where llama.cpp does not give a model's hidden states", async () => {
    const draftModel = await tinyModel({ ...eagle3, targetLayers: [0, 1, 1], tokens: 32_000 });
    await expect(loadTiny({ ...options, draftModel }, { architecture: "gemma3" })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/draftModel: .*does not give the hidden states.*gemma3/),
    });
    // No architecture of these tests gives the last layer's output.
    const last = await tinyModel({ ...eagle3, targetLayers: [0, 1, 2], tokens: 32_000 });
    await expect(loadTiny({ ...options, draftModel: last })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/draftModel: .*does not give the hidden states.*llama/),
    });
  });

  it("is refused if its blocks cannot be computed", async () => {
    for (const [other, why] of [
      [{ blockSize: 1 }, /its blocks have 1 tokens/],
      [{ blockSize: 1000 }, /its blocks have 1000 tokens/],
      [{ maskToken: 90_000 }, /no mask token/],
    ] as const) {
      const draftModel = await tinyModel({ ...dspark, tokens: 32_000, ...other });
      await expect(loadTiny({ ...options, draftModel })).rejects.toMatchObject({
        code: "model_invalid",
        message: expect.stringMatching(why),
      });
    }
  });
});
