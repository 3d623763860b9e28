// Speculative decoding: several tokens in one step, with the same texts. Whether to draft depends on the measured duration of steps, so
// these tests use repetitive texts, for which every machine drafts.
import type { GenerationRequest, GenerationResult, LoadedModel } from "@ingle/engine";
import { tinyModel, until } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectFreedWhenCancelled, expectTextsTogether } from "./drafted-texts.ts";
import { loadExact, loadTiny, prompts, within } from "./tiny.ts";

describe("speculation", () => {
  let plain: LoadedModel;
  let drafting: LoadedModel;
  beforeAll(async () => {
    const options = { contextLength: 1024, parallel: 8 };
    plain = await loadExact(options);
    drafting = await loadExact({ ...options, speculation: "ngram" });
  });
  afterAll(async () => {
    await plain[Symbol.asyncDispose]();
    await drafting[Symbol.asyncDispose]();
  });

  const circling = "The keeper rings the bell, and the boats come home. ".repeat(12);
  // The text of a tiny model does not repeat itself unless only four tokens are allowed.
  const fewTokens = { logitBias: { 400: 60, 500: 60, 600: 60, 700: 60 } };

  async function both(request: GenerationRequest): Promise<[GenerationResult, GenerationResult]> {
    return [await plain.model.generate(request), await drafting.model.generate(request)];
  }

  it("greedy texts are the same with and without it, and most of a repetitive text is drafted", async () => {
    for (const prompt of [circling, ...prompts(6)]) {
      const free = await both({ prompt, temperature: 0, maxTokens: 100 });
      expect(free[1].text).toBe(free[0].text);
      const [expected, result] = await both({ prompt, temperature: 0, maxTokens: 300, ...fewTokens });
      expect(result.text).toBe(expected.text);
      expect(result.usage.completionTokens).toBe(300);
      expect(expected.usage).toMatchObject({ draftedTokens: 0, acceptedTokens: 0 });
    }
    const { draftedTokens, acceptedTokens } = drafting.model.stats();
    expect(acceptedTokens).toBeGreaterThan(300);
    expect(draftedTokens).toBeGreaterThanOrEqual(acceptedTokens);
  });

  it("seeded texts with penalties are the same with and without it", async () => {
    let accepted = 0;
    for (const seed of [1, 2, 3, 4]) {
      const [expected, result] = await both({
        prompt: circling,
        seed,
        ...fewTokens,
        temperature: 0.2,
        topK: 20,
        repeatPenalty: 1.02,
        maxTokens: 200,
      });
      expect(result.text).toBe(expected.text);
      accepted += result.usage.acceptedTokens;
    }
    expect(accepted).toBeGreaterThan(0);
  });

  it("a prediction is drafted where speculation is off, and changes no text", async () => {
    const request = { prompt: prompts(1)[0] ?? "", temperature: 0, maxTokens: 200 };
    const { text, usage } = await plain.model.generate(request);
    expect(usage.draftedTokens).toBe(0);
    // Drafting starts once it seems to pay, which a busy machine finds out late.
    let accepted = 0;
    for (let round = 0; round < 40 && accepted <= 50; round += 1) {
      const predicted = await plain.model.generate({ ...request, prediction: text });
      expect(predicted.text).toBe(text);
      accepted = Math.max(accepted, predicted.usage.acceptedTokens);
    }
    expect(accepted).toBeGreaterThan(50);
    const wrong = await plain.model.generate({ ...request, prediction: circling });
    expect(wrong.text).toBe(text);
    expect((await plain.model.generate(request)).usage.draftedTokens).toBe(0);
  });

  it("a reply that repeats an earlier one is drafted from it, unless it may not use the cache", async () => {
    await using fresh = await loadExact({ contextLength: 1024, parallel: 8, speculation: "ngram" });
    const request = { prompt: "Whose lamp is that, over the harbour?", temperature: 0, maxTokens: 150 };
    const { text } = await plain.model.generate(request);
    let accepted = 0;
    // Drafting starts once it seems to pay, which a busy machine finds out late.
    for (let round = 0; round < 40 && accepted <= 50; round += 1) {
      const result = await fresh.model.generate(request);
      expect(result.text).toBe(text);
      accepted = Math.max(accepted, result.usage.acceptedTokens);
    }
    expect(accepted).toBeGreaterThan(50);
    const apart = await fresh.model.generate({ ...request, cachePrompt: false });
    expect(apart.text).toBe(text);
    expect(apart.usage.acceptedTokens).toBeLessThan(20);
  });

  it("a stop string among drafted tokens ends the text where it ends without drafts", async () => {
    const { text } = await plain.model.generate({ prompt: circling, temperature: 0, maxTokens: 300 });
    // Late in a repetitive text, so that it is among drafted tokens.
    const stop = text.slice(-40, -34);
    const start = text.slice(0, Math.max(0, text.indexOf(stop)));
    const [expected, result] = await both({ prompt: circling, temperature: 0, maxTokens: 300, stop: [stop] });
    expect(expected.text).toBe(start);
    expect(result).toMatchObject({ text: start, finishReason: "stop" });
    expect(result.usage.completionTokens).toBe(expected.usage.completionTokens);
  });

  it("a text ends after exactly maxTokens tokens", async () => {
    for (const maxTokens of [1, 2, 7, 64, 65, 131]) {
      const [expected, result] = await both({ prompt: circling, temperature: 0, maxTokens });
      expect(result.text).toBe(expected.text);
      expect(result).toMatchObject({ finishReason: "length", usage: { completionTokens: maxTokens } });
    }
    const [full, fullDrafted] = await both({ prompt: circling, temperature: 0 });
    expect(fullDrafted.usage.promptTokens + fullDrafted.usage.completionTokens).toBe(1024);
    expect(fullDrafted.text).toBe(full.text);
  });

  it("a chat continues after drafted tokens with the same texts as without drafts", async () => {
    let prompt = circling;
    for (let turn = 0; turn < 4; turn += 1) {
      const [expected, result] = await both({ prompt, temperature: 0, maxTokens: 80 });
      expect(result.text, `turn ${turn}`).toBe(expected.text);
      prompt += result.text;
    }
  });

  it("eight concurrent requests, some preempted or cancelled, give the same texts as alone", async () => {
    await using tight = await loadExact({
      contextLength: 400,
      cells: 700,
      parallel: 6,
      speculation: "ngram",
    });
    const requests = prompts(8).map((prompt) => ({ prompt, temperature: 0, maxTokens: 250 }));
    const leaving = tight.model.generate({ prompt: circling.slice(0, 300), temperature: 0, maxTokens: 200 });
    setTimeout(() => leaving.cancel(), 15);
    const together = await within(
      60_000,
      Promise.all(requests.map(async (request) => (await tight.model.generate(request)).text)),
    );
    expect(tight.model.stats().preemptions).toBeGreaterThan(0);
    for (const [index, request] of requests.entries()) {
      expect((await plain.model.generate(request)).text).toBe(together[index]);
    }
    await until(() => tight.model.stats().running === 0);
    expect(tight.model.stats().cellsUsed).toBe(0);
  });

  it("cancelling while drafts are verified frees everything, and the next request is correct", async () => {
    const request = { prompt: circling, temperature: 0, maxTokens: 700 };
    await expectFreedWhenCancelled(drafting, request, { rounds: 10, piecesPerRound: 5 });
    const [expected, result] = await both({ prompt: circling, temperature: 0, maxTokens: 50 });
    expect(result.text).toBe(expected.text);
  });
});

describe.each(["lfm2", "lfm2moe"] as const)("speculation on a hybrid model, %s", (architecture) => {
  const options = { contextLength: 600, parallel: 8 };
  let plain: LoadedModel;
  let drafting: LoadedModel;
  beforeAll(async () => {
    plain = await loadExact(options, { architecture });
    drafting = await loadExact({ ...options, speculation: "ngram" }, { architecture });
  });
  afterAll(async () => {
    await plain[Symbol.asyncDispose]();
    await drafting[Symbol.asyncDispose]();
  });

  const fewTokens = { logitBias: { 400: 60, 500: 60, 600: 60, 700: 60 } };
  const system = "You keep the harbour at night, and you answer in short sentences. ".repeat(3);
  // The end token of the tiny models, where a message ends and its recurrent state is saved.
  const turnEnd = "</s>";

  it("greedy and seeded texts are the same with and without it, and most of a repetitive text is drafted", async () => {
    for (const [index, prompt] of prompts(4).entries()) {
      for (const sampling of [{ temperature: 0 }, { temperature: 0.3, seed: index }]) {
        const request = { prompt, ...sampling, ...fewTokens, maxTokens: 150 };
        const { text } = await plain.model.generate(request);
        expect((await drafting.model.generate(request)).text).toBe(text);
      }
    }
    const { draftedTokens, acceptedTokens } = drafting.model.stats();
    expect(acceptedTokens).toBeGreaterThan(200);
    // Equal numbers would mean that no state was ever rolled back.
    expect(draftedTokens).toBeGreaterThan(acceptedTokens + 10);
  });

  it("a prediction is drafted where speculation is off, and changes no text", async () => {
    const request = { prompt: `${system}Who rings?`, temperature: 0, maxTokens: 150 };
    const { text } = await plain.model.generate(request);
    // Drafting starts once it seems to pay, which a busy machine finds out late.
    let accepted = 0;
    for (let round = 0; round < 40 && accepted <= 50; round += 1) {
      const predicted = await plain.model.generate({ ...request, prediction: text });
      expect(predicted.text).toBe(text);
      accepted = Math.max(accepted, predicted.usage.acceptedTokens);
    }
    expect(accepted).toBeGreaterThan(50);
  });

  it("chats that share prefixes and continue after drafts give the texts of uncached runs", async () => {
    for (const name of ["first", "second", "third"]) {
      let prompt = `${system}${turnEnd}A ${name} chat.${turnEnd}`;
      for (let turn = 0; turn < 3; turn += 1) {
        const request = { prompt, temperature: 0, maxTokens: 60, ...fewTokens };
        const expected = await plain.model.generate({ ...request, cachePrompt: false });
        const result = await drafting.model.generate(request);
        expect(result.text, `${name} chat, turn ${turn}`).toBe(expected.text);
        if (turn > 0) expect(result.usage.cachedTokens).toBeGreaterThan(0);
        prompt += `${result.text}${turnEnd}And then?${turnEnd}`;
      }
    }
  });

  it("eight concurrent requests, some preempted, swapped out or cancelled, give the same texts as alone", async () => {
    await using tight = await loadExact(
      { contextLength: 400, cells: 700, parallel: 6, cacheRamMiB: 64, speculation: "ngram" },
      { architecture },
    );
    const requests = prompts(8).map((prompt) => ({
      prompt: `${system}${turnEnd}${prompt}${turnEnd}`,
      temperature: 0,
      maxTokens: 150,
      ...fewTokens,
    }));
    const expected: string[] = [];
    for (const request of requests) {
      expected.push((await plain.model.generate({ ...request, cachePrompt: false })).text);
    }
    await expectTextsTogether(tight, requests, expected);
    const { preemptions, cacheRamHits, acceptedTokens } = tight.model.stats();
    expect(preemptions).toBeGreaterThan(0);
    expect(cacheRamHits).toBeGreaterThan(0);
    expect(acceptedTokens).toBeGreaterThan(0);
    await until(() => tight.model.stats().running === 0);
    expect(tight.model.stats().cellsUsed).toBe(0);
  });

  it("cancelling while drafts are verified frees everything, and the next request is correct", async () => {
    const request = { prompt: "round and round ".repeat(8), temperature: 0, maxTokens: 400, ...fewTokens };
    await expectFreedWhenCancelled(drafting, request, { rounds: 8, piecesPerRound: 7 });
    const expected = await plain.model.generate(request);
    expect((await drafting.model.generate(request)).text).toBe(expected.text);
  });

  it("a draft model drafts for it, too", async () => {
    const draftModel = await tinyModel({ weights: "f32" });
    await using drafted = await loadExact({ ...options, draftModel }, { architecture });
    for (const prompt of prompts(3)) {
      const request = { prompt, temperature: 0, maxTokens: 60 };
      expect((await drafted.model.generate(request)).text).toBe((await plain.model.generate(request)).text);
    }
  });

  it("is a clear error where too few tokens are computed at once", async () => {
    const small = { parallel: 1, ubatchTokens: 2, speculation: "ngram" } as const;
    await expect(loadTiny(small, { architecture })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/speculation: .*three tokens.*ubatchTokens/),
    });
  });
});

describe("a draft model", () => {
  const options = { flashAttention: "off", contextLength: 512, parallel: 4 } as const;
  const requests = prompts(4).map((prompt) => ({ prompt, temperature: 0, maxTokens: 120 }));

  it("equal to the model is nearly always right, and changes no text", async () => {
    const draftModel = await tinyModel({ weights: "f32" });
    await using plain = await loadExact(options);
    await using drafted = await loadExact({ ...options, draftModel, draftTokens: 6 });
    for (const request of requests) {
      const { text } = await drafted.model.generate(request);
      expect(text).toBe((await plain.model.generate(request)).text);
    }
    // Drafting starts once it seems to pay, which a busy machine finds out late.
    for (let more = 0; more < 40 && drafted.model.stats().draftedTokens <= 8; more += 1) {
      await drafted.model.generate(requests[more % requests.length]!);
    }
    const { draftedTokens, acceptedTokens } = drafted.model.stats();
    expect(draftedTokens).toBeGreaterThan(8);
    expect(acceptedTokens / draftedTokens).toBeGreaterThan(0.9);
    const together = await Promise.all(
      requests.map(async (request) => (await drafted.model.generate(request)).text),
    );
    for (const [index, request] of requests.entries()) {
      expect((await plain.model.generate(request)).text).toBe(together[index]);
    }
  });

  it("with another vocabulary is refused, with the reason and what to do", async () => {
    const draftModel = await tinyModel({ vocabulary: "qwen2" });
    await expect(loadExact({ ...options, draftModel })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(/vocabularies differ.*smaller model of the same family/),
    });
  });

  it("is refused as a hybrid model, together with speculation, and if its file is missing", async () => {
    const [llama, lfm2] = [await tinyModel(), await tinyModel({ architecture: "lfm2" })];
    await expect(loadTiny({ ...options, draftModel: lfm2 })).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(loadTiny({ ...options, draftModel: llama, speculation: "ngram" })).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(loadTiny({ ...options, draftModel: "/nowhere.gguf" })).rejects.toMatchObject({
      code: "model_not_found",
    });
  });
});
