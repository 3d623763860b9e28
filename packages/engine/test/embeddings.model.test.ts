// Embeddings in process, of a tiny encoder and of tiny generative models.
import { EngineError, type LoadedModel, type Model } from "@ingle/engine";
import { until } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadExact, loadTiny, prompts, within } from "./tiny.ts";

/** The tolerance: in another batch, additions happen in another order. */
const alike = 0.9999;

function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

async function alone(model: Model, text: string): Promise<Float32Array> {
  const { embeddings } = await model.embed([text]);
  return embeddings[0] ?? new Float32Array();
}

async function rejectionCode(promise: PromiseLike<unknown>): Promise<string> {
  try {
    await promise;
    return "no error";
  } catch (error) {
    return EngineError.is(error) ? error.code : String(error);
  }
}

describe.each([
  ["an encoder", { architecture: "bert" }],
  ["a model that generates", {}],
  ["a hybrid model", { architecture: "lfm2" }],
  ["a model with a sliding window", { architecture: "gemma3" }],
] as const)("embeddings of %s", (_, fixture) => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    loaded = await loadTiny({ contextLength: 512 }, fixture);
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  it("are vectors of length 1, equal for equal texts and different for different ones", async () => {
    const { model } = loaded;
    const { embeddings, usage } = await model.embed(["a river", "a river", "seven lanterns in winter"]);
    const [first, same, other] = embeddings;
    if (first === undefined || same === undefined || other === undefined)
      throw new Error("an embedding is missing");
    expect(first.length).toBe(model.info.embeddingSize);
    expect(cosine(first, first)).toBeCloseTo(1, 5);
    expect(cosine(first, same)).toBeGreaterThan(alike);
    expect(cosine(first, other)).toBeLessThan(alike);
    expect(usage.promptTokens).toBeGreaterThan(3);
  });

  it("of several texts in one request equal those of each text alone", async () => {
    const { model } = loaded;
    const texts = prompts(24);
    const { embeddings } = await model.embed(texts);
    for (const [index, text] of texts.entries())
      expect(cosine(embeddings[index] ?? new Float32Array(), await alone(model, text))).toBeGreaterThan(
        alike,
      );
  });

  it("are computed for eight concurrent requests", async () => {
    const { model } = loaded;
    const texts = prompts(8);
    const results = await within(
      20_000,
      Promise.all(texts.map((text) => model.embed([text, `${text} again`]))),
    );
    for (const [index, text] of texts.entries())
      expect(
        cosine(results[index]?.embeddings[0] ?? new Float32Array(), await alone(model, text)),
      ).toBeGreaterThan(alike);
    expect(model.stats()).toMatchObject({ running: 0, waiting: 0 });
  });

  it("accept token ids, which are used unchanged", async () => {
    const { model, tokenizer } = loaded;
    const tokens = await tokenizer.encode("copper maple");
    const { embeddings } = await model.embed([tokens, [...tokens]]);
    const expected = await alone(model, "copper maple");
    for (const embedding of embeddings) expect(cosine(embedding, expected)).toBeGreaterThan(alike);
    const foreign = model.embed([[model.info.vocabularySize]]);
    expect(await rejectionCode(foreign)).toBe("invalid_request");
    expect(await rejectionCode(model.embed([[2 ** 32 + 5]]))).toBe("invalid_request");
  });

  it("are cut to `dimensions` and normalized again, unless normalization is off", async () => {
    const { model } = loaded;
    const { embeddings } = await model.embed(["quiet harbour"], { normalize: false });
    const whole = embeddings[0] ?? new Float32Array();
    expect(Math.abs(cosine(whole, whole) - 1)).toBeGreaterThan(0.01);
    const cut =
      (await model.embed(["quiet harbour"], { dimensions: 10 })).embeddings[0] ?? new Float32Array();
    expect(cut.length).toBe(10);
    const length = Math.hypot(...whole.subarray(0, 10));
    for (const [index, value] of cut.entries()) expect(value).toBeCloseTo((whole[index] ?? 0) / length, 3);
    const tooMany = model.embed(["a"], { dimensions: model.info.embeddingSize + 1 });
    await expect(tooMany).rejects.toMatchObject({
      code: "invalid_request",
      details: { param: "dimensions" },
    });
  });

  it("are refused for a text that is too long, with both numbers, and without any text", async () => {
    const { model } = loaded;
    const tooLong = Array.from({ length: 513 }, () => 5);
    await expect(model.embed([[5], tooLong])).rejects.toMatchObject({
      code: "context_length_exceeded",
      details: { promptTokens: 513, contextLength: 512 },
    });
    const longest = tooLong.slice(1);
    expect((await model.embed([longest])).usage.promptTokens).toBe(512);
    expect(await rejectionCode(model.embed([]))).toBe("invalid_request");
    expect(await rejectionCode(model.embed([""]))).toBe("invalid_request");
  });

  it("reject with the signal's reason, and leave nothing behind", async () => {
    const { model } = loaded;
    const controller = new AbortController();
    const long = Array.from({ length: 400 }, (__, index) => Array.from({ length: 400 }, () => 5 + index));
    const pending = model.embed(long, { signal: controller.signal });
    await until(() => model.stats().running === 1);
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(within(5000, pending)).rejects.toBe(reason);
    await until(() => model.stats().running === 0);
    await expect(model.embed(["a"], { signal: controller.signal })).rejects.toBe(reason);
    expect((await model.embed(["a"])).embeddings).toHaveLength(1);
  });

  it("reject with `disposed` if the model is disposed", async () => {
    await using short = await loadTiny({ contextLength: 512 }, fixture);
    const long = Array.from({ length: 400 }, () => Array.from({ length: 400 }, () => 5));
    const pending = rejectionCode(short.model.embed(long));
    await until(() => short.model.stats().running === 1);
    await short[Symbol.asyncDispose]();
    expect(await within(5000, pending)).toBe("disposed");
    expect(await rejectionCode(short.model.embed(["a"]))).toBe("disposed");
  });
});

describe("embeddings beside replies", () => {
  it("let a running reply continue, and do not change it", async () => {
    await using loaded = await loadExact({ contextLength: 1024 });
    const { model } = loaded;
    const request = { prompt: "The witness", temperature: 0, maxTokens: 30 };
    const { text } = await model.generate(request);
    let isDone = false;
    const embedding = model.embed(Array.from({ length: 400 }, () => Array.from({ length: 50 }, () => 7)));
    void (async () => {
      await embedding;
      isDone = true;
    })();
    await until(() => model.stats().running === 1);
    expect((await within(30_000, model.generate(request))).text).toBe(text);
    expect(isDone).toBe(false);
    expect((await embedding).embeddings).toHaveLength(400);
  });

  it("fail with `overloaded` if the waiting queue is full, and succeed later", async () => {
    await using loaded = await loadTiny(
      { contextLength: 512, parallel: 1, waitingMax: 1 },
      { architecture: "bert" },
    );
    const { model } = loaded;
    const long = Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => 5));
    const results = await Promise.allSettled([1, 2, 3, 4].map(async () => model.embed(long)));
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused).toHaveLength(2);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: "overloaded" });
    expect((await model.embed(["later"])).embeddings).toHaveLength(1);
  });
});

describe("models without support", () => {
  it("an encoder refuses to generate", async () => {
    await using loaded = await loadTiny({}, { architecture: "bert" });
    const generation = loaded.model.generate({ prompt: "Hello" });
    await expect(Promise.resolve(generation)).rejects.toMatchObject({ code: "generation_not_supported" });
    expect((await loaded.model.embed(["Hello"])).embeddings).toHaveLength(1);
  });

  it.each([
    ["a reranker", { pooling: "rank" }],
    ["an encoder whose file names no pooling", { architecture: "bert", pooling: "none" }],
    ["one whose file claims wider vectors than it has", { architecture: "bert", vectorLength: 1_000_000 }],
    ["one whose file claims narrower ones", { architecture: "bert", vectorLength: 8 }],
  ] as const)("say so: %s embeds nothing", async (_, fixture) => {
    await using loaded = await loadTiny({}, fixture);
    expect(await rejectionCode(loaded.model.embed(["Hello"]))).toBe("embeddings_not_supported");
  });
});

describe("embeddings of a chat model within a budget", () => {
  it("fail if their context would take more, with what it needs", async () => {
    await using loaded = await loadTiny({ contextLength: 512 });
    const embed = (bytes: number): Promise<unknown> =>
      loaded.model.embed(["a river"], { budget: { byMemory: { host: bytes } } });
    const error: unknown = await embed(1000).catch((reason: unknown) => reason);
    if (!EngineError.is(error)) throw error;
    expect(error.code).toBe("out_of_memory");
    expect(Object.keys(error.neededMemory ?? {})).toEqual(["host"]);
    const needed = error.neededMemory?.["host"] ?? 0;
    await expect(embed(needed - 1)).rejects.toMatchObject({ neededMemory: { host: needed } });
    await expect(embed(needed)).resolves.toMatchObject({ usage: {} });
  });
});
