// The bits of the KV cache: each number of them with every kind of memory that a model has, what a token then takes, and
// what cannot be had.
import { fitModel, type GenerationResult, type LoadedModel, type LoadOptions } from "@ingle/engine";
import { tinyModel } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { loadTiny } from "./tiny.ts";

const bits = [8, 4, 3] as const;
const models = [
  { name: "a llama", fixture: { weights: "f32" } },
  { name: "an lfm2", fixture: { architecture: "lfm2" } },
  { name: "a gemma3 with a sliding window", fixture: { architecture: "gemma3", weights: "f32", window: 32 } },
] as const;
const turnEnd = "</s>";
const beginning = `${"The lamp over the pier is lit, and the water is still. ".repeat(8)}${turnEnd}`;
const questions = ["Who lit it?", "What floats there?", "Is it winter?"].map(
  (question) => `${beginning}${question}${turnEnd}`,
);

async function ask({ model }: LoadedModel, prompt: string, extra: object = {}): Promise<GenerationResult> {
  return await model.generate({ prompt, temperature: 0, maxTokens: 24, ...extra });
}

describe.each(bits)("a KV cache of %i bits", (kvBits) => {
  const options: LoadOptions = { kvBits, contextLength: 512, cells: 1024, parallel: 4 };

  it.each(models)("gives $name the same text each time, shared beginning or not", async ({ fixture }) => {
    await using loaded = await loadTiny(options, fixture);
    for (const prompt of questions) {
      const alone = await ask(loaded, prompt, { cachePrompt: false });
      const shared = await ask(loaded, prompt);
      const again = await ask(loaded, prompt);
      expect(again.text).toBe(shared.text);
      expect((await ask(loaded, prompt, { cachePrompt: false })).text).toBe(alone.text);
      // A code over 32 values turns a sum's last bit into another way through all of them: how many tokens were computed
      // together then shows in the text.
      if (kvBits !== 3) expect(shared.text).toBe(alone.text);
      expect(again.usage.cachedTokens).toBeGreaterThan(again.usage.promptTokens / 2);
    }
  });

  it("takes so much less memory for a token, as the measure of a model says too", async () => {
    const whole = await loadTiny({ contextLength: 512 });
    const { kvBytesPerToken } = whole.model.info;
    await whole[Symbol.asyncDispose]();
    await using loaded = await loadTiny(options);
    const share = loaded.model.info.kvBytesPerToken / kvBytesPerToken;
    expect(share * 16).toBeGreaterThanOrEqual(kvBits);
    expect(share * 16).toBeLessThanOrEqual(kvBits + 0.5);
  });
});

/** Context bytes of one cell more, as llama.cpp lays the cache out. */
async function measuredBytesPerToken(file: string, options: LoadOptions): Promise<number> {
  const contextBytes = async (cells: number): Promise<number> => {
    const asked = { ...options, threads: 1, parallel: 4, contextLength: 512, cells };
    return (await fitModel(file, asked, { budget: { byMemory: {} } })).footprint.contextBytes;
  };
  return ((await contextBytes(2048)) - (await contextBytes(1024))) / 1024;
}

describe("what a token takes of the KV cache", () => {
  it.each(models)("is what the measure of $name says", async ({ fixture }) => {
    const asked: LoadOptions = { kvBits: 8, kvBitsV: 4 };
    await using loaded = await loadTiny({ ...asked, contextLength: 512 }, fixture);
    expect(loaded.model.info.kvBytesPerToken).toBe(
      await measuredBytesPerToken(await tinyModel(fixture), asked),
    );
  });

  it("is nothing for a model that keeps none", async () => {
    await using loaded = await loadTiny({}, { architecture: "bert" });
    expect(loaded.model.info.kvBytesPerToken).toBe(0);
  });
});

describe("bits of the KV cache", () => {
  it("may differ for keys and values, and a type's name wins over them", async () => {
    const perToken = async (options: LoadOptions): Promise<number> => {
      await using loaded = await loadTiny({ contextLength: 128, ...options });
      return loaded.model.info.kvBytesPerToken;
    };
    const [sixteen, eight] = [await perToken({}), await perToken({ kvBits: 8 })];
    expect(await perToken({ kvBitsV: 8 })).toBe((sixteen + eight) / 2);
    expect(await perToken({ kvBits: 8, kvBitsK: 16 })).toBe((sixteen + eight) / 2);
    expect(await perToken({ kvBits: 4, kvTypeK: "f16", kvTypeV: "q8_0" })).toBe((sixteen + eight) / 2);
  });

  // Not a number of the table: what a program in JavaScript may say all the same.
  const five: LoadOptions = JSON.parse('{ "kvBits": 5 }');
  it.each([
    { what: "another number", options: five, message: /^kvBits: must be/ },
    {
      what: "values that flash attention alone can read, without it",
      options: { kvBitsV: 8, flashAttention: "off" },
      message: /flash attention/,
    },
  ] as const)("refuse $what", async ({ options, message }) => {
    await expect(loadTiny(options)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(message),
    });
  });

  it.each(["auto", "off"] as const)(
    "refuse heads that blocks do not divide, flash attention %s",
    async (flashAttention) => {
      const odd = { headSize: 48 };
      const refused = { code: "invalid_request", message: expect.stringContaining("heads of 48") };
      await expect(loadTiny({ kvBitsK: 8, flashAttention }, odd)).rejects.toMatchObject(refused);
      const measured = fitModel(await tinyModel(odd), { kvBits: 4 }, { budget: { byMemory: {} } });
      await expect(measured).rejects.toMatchObject(refused);
    },
  );
});
