// Drafts of a model's own layers for multi-token prediction: they change no text.
import { load, type LoadedModel } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  expectDraftsTakenBack,
  expectFreedWhenCancelled,
  expectRest,
  expectSameTextsWhenPreempted,
} from "./drafted-texts.ts";
import { loadExact, prompts } from "./tiny.ts";

/** Enough layers, and few enough tokens, that a draft costs little beside a step of the model. */
const heavy = { layers: 10, tokens: 4000, weights: "f32" } as const;

describe.each(["glm4moe", "qwen35"] as const)("layers for multi-token prediction, %s", (architecture) => {
  const options = { contextLength: 600, parallel: 8 };
  let plain: LoadedModel;
  let drafting: LoadedModel;
  beforeAll(async () => {
    const model = { architecture, drafts: "right", ...heavy } as const;
    plain = await loadExact({ ...options, speculation: "off" }, model);
    drafting = await loadExact(options, model);
  });
  afterAll(async () => {
    await plain[Symbol.asyncDispose]();
    await drafting[Symbol.asyncDispose]();
  });

  it("draft by default, and are not loaded where speculation is off", async () => {
    expect(drafting.model.info.mtpLayers).toBe(1);
    expect(plain.model.info.mtpLayers).toBe(0);
    await using ngram = await loadExact(
      { ...options, speculation: "ngram" },
      { architecture, drafts: "right", ...heavy },
    );
    expect(ngram.model.info.mtpLayers).toBe(0);
  });

  it("make several tokens a step, and the same greedy and seeded texts", async () => {
    for (const [seed, prompt] of prompts(6).entries()) {
      for (const sampling of [{ temperature: 0 }, { temperature: 0.4, topK: 20, seed }]) {
        const request = { prompt, ...sampling, maxTokens: 150 };
        const expected = await plain.model.generate(request);
        const result = await drafting.model.generate(request);
        expect(result.text).toBe(expected.text);
        expect(result.usage.completionTokens).toBe(expected.usage.completionTokens);
        expect(expected.usage.draftedTokens).toBe(0);
      }
    }
    await expectDraftsTakenBack(drafting);
  });

  it("change no text of eight requests at once, some preempted or cancelled", async () => {
    await using tight = await loadExact(
      { contextLength: 400, cells: 700, parallel: 6, speculation: "mtp" },
      { architecture, drafts: "right", ...heavy },
    );
    await expectSameTextsWhenPreempted(tight, plain);
  });

  it("change no text of chats that continue, and share what others computed", async () => {
    const system = `${"You keep the harbour at night, and you answer in short sentences. ".repeat(3)}</s>`;
    for (const name of ["first", "second"]) {
      let prompt = `${system}A ${name} chat.</s>`;
      for (let turn = 0; turn < 3; turn += 1) {
        const request = { prompt, temperature: 0, maxTokens: 40 };
        const expected = await plain.model.generate({ ...request, cachePrompt: false });
        const result = await drafting.model.generate(request);
        expect(result.text, `${name} chat, turn ${turn}`).toBe(expected.text);
        if (turn > 0) expect(result.usage.cachedTokens).toBeGreaterThan(0);
        prompt += `${result.text}</s>And then?</s>`;
      }
    }
  });

  it("that are cancelled while drafts are verified leave nothing behind, and the next request is correct", async () => {
    const request = { prompt: "round and round", temperature: 0, maxTokens: 300 };
    await expectFreedWhenCancelled(drafting, request, { rounds: 8, piecesPerRound: 7 });
    const expected = await plain.model.generate(request);
    expect((await drafting.model.generate(request)).text).toBe(expected.text);
  });

  it("draft beside a prediction, which comes first", async () => {
    const request = { prompt: "What is over the harbour?", temperature: 0, maxTokens: 150 };
    const { text } = await plain.model.generate(request);
    for (let round = 0; round < 5; round += 1)
      expect((await drafting.model.generate({ ...request, prediction: text })).text).toBe(text);
  });

  it("that are nearly always wrong rest, and change no text", async () => {
    await using wrong = await loadExact(options, { architecture, ...heavy });
    await using without = await loadExact({ ...options, speculation: "off" }, { architecture, ...heavy });
    await expectRest(wrong, without);
  });
});

describe("files with unusual layers for multi-token prediction", () => {
  it("are refused if speculation asks for layers that are missing or too many, and load without it", async () => {
    const refused = {
      code: "invalid_request",
      message: expect.stringMatching(/speculation: the file has no layers for multi-token prediction/),
    };
    for (const options of [
      {},
      { architecture: "glm4moe", mtpLayers: 0 },
      { architecture: "glm4moe", mtpLayers: 2 },
      { architecture: "qwen35", mtpLayers: 2 },
    ] as const) {
      const file = await tinyModel({ tokens: 1000, ...options });
      await expect(load(file, { contextLength: 256, speculation: "mtp" })).rejects.toMatchObject(refused);
      await using loaded = await load(file, { contextLength: 256 });
      expect(loaded.model.info.mtpLayers).toBe(0);
      await loaded.model.generate({ prompt: "night", maxTokens: 20 });
    }
  });

  it("are refused together with a draft model", async () => {
    const file = await tinyModel({ architecture: "glm4moe", ...heavy });
    await expect(load(file, { draftModel: file, speculation: "mtp" })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/draftModel: choose a draft model or speculation/),
    });
  });
});
