// The bits of the KV cache: each supported number with every kind of model memory, the resulting bytes per token, and the combinations
// that are refused.
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
const prefix = `${"The lamp over the pier is lit, and the water is still. ".repeat(8)}${turnEnd}`;
const questions = ["Who lit it?", "What floats there?", "Is it winter?"].map(
  (question) => `${prefix}${question}${turnEnd}`,
);

async function ask({ model }: LoadedModel, prompt: string, extra: object = {}): Promise<GenerationResult> {
  return await model.generate({ prompt, temperature: 0, maxTokens: 24, ...extra });
}

describe.each(bits)("a KV cache of %i bits", (kvBits) => {
  const options: LoadOptions = { kvBits, contextLength: 512, cells: 1024, parallel: 4 };

  it.each(models)(
    "gives $name the same text each time, with a shared prefix or without",
    async ({ fixture }) => {
      await using loaded = await loadTiny(options, fixture);
      for (const prompt of questions) {
        const alone = await ask(loaded, prompt, { cachePrompt: false });
        const shared = await ask(loaded, prompt);
        const again = await ask(loaded, prompt);
        expect(again.text).toBe(shared.text);
        expect((await ask(loaded, prompt, { cachePrompt: false })).text).toBe(alone.text);
        // Rounding to few bits turns a difference in a sum's last bit into other codes for 32 values, so the number of tokens that were
        // computed together shows in the text.
        if (kvBits !== 3) expect(shared.text).toBe(alone.text);
        expect(again.usage.cachedTokens).toBeGreaterThan(again.usage.promptTokens / 2);
      }
    },
  );

  it("takes less memory per token, as measuring the model predicts", async () => {
    const whole = await loadTiny({ contextLength: 512 });
    const { kvBytesPerToken } = whole.model.info;
    await whole[Symbol.asyncDispose]();
    await using loaded = await loadTiny(options);
    const share = loaded.model.info.kvBytesPerToken / kvBytesPerToken;
    expect(share * 16).toBeGreaterThanOrEqual(kvBits);
    expect(share * 16).toBeLessThanOrEqual(kvBits + 0.5);
  });
});

/** The bytes that one more cell adds to the context, in llama.cpp's layout. */
async function measuredBytesPerToken(file: string, options: LoadOptions): Promise<number> {
  const contextBytes = async (cells: number): Promise<number> => {
    const asked = { ...options, threads: 1, parallel: 4, contextLength: 512, cells };
    return (await fitModel(file, asked, { budget: { byMemory: {} } })).footprint.contextBytes;
  };
  return ((await contextBytes(2048)) - (await contextBytes(1024))) / 1024;
}

describe("the bytes per token of the KV cache", () => {
  it.each(models)("match the measurement of $name", async ({ fixture }) => {
    const asked: LoadOptions = { kvBits: 8, kvBitsV: 4 };
    await using loaded = await loadTiny({ ...asked, contextLength: 512 }, fixture);
    expect(loaded.model.info.kvBytesPerToken).toBe(
      await measuredBytesPerToken(await tinyModel(fixture), asked),
    );
  });

  it("are 0 for a model without a KV cache", async () => {
    await using loaded = await loadTiny({}, { architecture: "bert" });
    expect(loaded.model.info.kvBytesPerToken).toBe(0);
  });
});

describe("bits of the KV cache", () => {
  it("may differ for keys and values, and a type's name takes precedence", async () => {
    const perToken = async (options: LoadOptions): Promise<number> => {
      await using loaded = await loadTiny({ contextLength: 128, ...options });
      return loaded.model.info.kvBytesPerToken;
    };
    const [sixteen, eight] = [await perToken({}), await perToken({ kvBits: 8 })];
    expect(await perToken({ kvBitsV: 8 })).toBe((sixteen + eight) / 2);
    expect(await perToken({ kvBits: 8, kvBitsK: 16 })).toBe((sixteen + eight) / 2);
    expect(await perToken({ kvBits: 4, kvTypeK: "f16", kvTypeV: "q8_0" })).toBe((sixteen + eight) / 2);
  });

  // A number that the type excludes, but that a JavaScript program may pass.
  const five: LoadOptions = JSON.parse('{ "kvBits": 5 }');
  it.each([
    { what: "an unsupported number", options: five, message: /^kvBits: must be/ },
    {
      what: "value types that need flash attention, without it",
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
    "refuse head sizes that are not a multiple of the block size, flash attention %s",
    async (flashAttention) => {
      const odd = { headSize: 48 };
      const refused = { code: "invalid_request", message: expect.stringContaining("heads of 48") };
      await expect(loadTiny({ kvBitsK: 8, flashAttention }, odd)).rejects.toMatchObject(refused);
      const measured = fitModel(await tinyModel(odd), { kvBits: 4 }, { budget: { byMemory: {} } });
      await expect(measured).rejects.toMatchObject(refused);
    },
  );
});
