// The samplers beyond the usual ones, through the whole engine: each does what it is for, and contradictions are refused.
import { EngineError, type GenerationRequest, type LoadedModel } from "@ingle/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadExact, loadTiny } from "./tiny.ts";

describe("samplers", () => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    loaded = await loadExact({ contextLength: 512 });
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  const generate = async (extra: Partial<Omit<GenerationRequest, "messages">>): Promise<string> =>
    (
      await loaded.model.generate({
        prompt: "The lantern",
        seed: 5,
        maxTokens: 30,
        ...extra,
      })
    ).text;

  it("cut down to the likeliest token choose as temperature 0 does", async () => {
    const greedy = await generate({ temperature: 0 });
    for (const cut of [
      { typicalP: 1, topK: 1 },
      { topNSigma: 1e-6 },
      { mirostat: 2, mirostatTau: 0 },
    ] as const)
      expect(await generate({ topK: 0, ...cut }), JSON.stringify(cut)).toBe(greedy);
    expect(await generate({ topK: 0 })).not.toBe(greedy);
  });

  it("each change the text", async () => {
    const plain = await generate({ topK: 0 });
    const changes: Partial<GenerationRequest>[] = [
      { typicalP: 0.1 },
      { topNSigma: 0.5 },
      { xtcProbability: 1, xtcThreshold: 1e-5 },
      { temperature: 3, dynatempRange: 2.9, dynatempExponent: 9 },
      { mirostat: 1, mirostatTau: 1 },
      { mirostat: 2, mirostatTau: 1 },
      { adaptiveTarget: 0.9 },
    ];
    for (const change of changes)
      expect(await generate({ topK: 0, ...change }), JSON.stringify(change)).not.toBe(plain);
  });

  it("XTC leaves out the likeliest token even at temperature 0", async () => {
    const [likeliest, other] = await Promise.all([
      generate({ temperature: 0, maxTokens: 1 }),
      generate({ temperature: 0, maxTokens: 1, xtcProbability: 1, xtcThreshold: 1e-6 }),
    ]);
    expect(other).not.toBe(likeliest);
  });

  it("DRY ends a repetition, unless a breaker is in it", async () => {
    const repeated = "winter";
    const favoured = (await loaded.tokenizer.encode(repeated, { addSpecial: false })).at(-1) ?? 0;
    const longestRun = async (extra: object): Promise<number> => {
      const text = await generate({ temperature: 0, logitBias: { [favoured]: 20 }, maxTokens: 60, ...extra });
      return Math.max(
        ...Array.from(text.matchAll(/(?: ?winter)+/g), ([run]) => run.split(repeated).length - 1),
      );
    };
    const free = await longestRun({});
    expect(free).toBeGreaterThan(50);
    expect(await longestRun({ dryMultiplier: 5 })).toBeLessThan(10);
    expect(await longestRun({ dryMultiplier: 5, dryAllowedLength: 1000 })).toBe(free);
    expect(await longestRun({ dryMultiplier: 5, dryPenaltyLastN: 0 })).toBe(free);
    expect(await longestRun({ dryMultiplier: 5, drySequenceBreakers: [repeated] })).toBe(free);
  });

  it("a sampler that `samplers` does not name is off", async () => {
    const plain = await generate({ topK: 0 });
    expect(await generate({ topK: 1, samplers: ["temperature"] })).toBe(plain);
    expect(await generate({ topK: 1, xtcProbability: 1, xtcThreshold: 0, samplers: ["top_k"] })).toBe(
      await generate({ topK: 1 }),
    );
  });

  it.each([
    [{ mirostat: 2, adaptiveTarget: 0.5 }, "adaptiveTarget"],
    [{ minTokens: 31 }, "minTokens"],
    [{ samplers: ["top_k", "top_k"] }, "samplers"],
    [{ mirostat: 3 }, "mirostat"],
    [{ dryBase: 0.5 }, "dryBase"],
    [{ drySequenceBreakers: [""] }, "drySequenceBreakers.0"],
  ])("refuse %j", async (extra, param) => {
    const error = await generate(extra as object).catch((thrown: unknown) => thrown);
    if (!EngineError.is(error)) throw new Error("no EngineError");
    expect([error.code, error.details?.["param"]]).toEqual(["invalid_request", param]);
  });
});

describe("minTokens", () => {
  it("keeps the model from ending the reply, and stop strings from being found, before", async () => {
    await using ending = await loadTiny({ contextLength: 1024 }, { endAfter: 8 });
    const replyLength = async (extra: object): Promise<number> =>
      (await ending.model.generate({ prompt: "on", seed: 1, maxTokens: 400, ...extra })).usage
        .completionTokens;
    const plain = await replyLength({});
    expect(plain).toBeLessThan(100);
    expect(await replyLength({ minTokens: 120 })).toBeGreaterThanOrEqual(120);

    const request = { prompt: "The lantern", temperature: 0, ignoreEos: true, maxTokens: 40 };
    const { text } = await ending.model.generate(request);
    const stop = text.slice(4, 8);
    const early = await ending.model.generate({ ...request, stop: [stop] });
    expect(early.usage.completionTokens).toBeLessThan(20);
    const late = await ending.model.generate({ ...request, stop: [stop], minTokens: 30 });
    expect(late.usage.completionTokens).toBeGreaterThanOrEqual(30);
    expect(late.text.startsWith(early.text + stop)).toBe(true);
  });
});
