// Models that take audio, from messages to texts: alone (Ultravox, LFM2-Audio), and with a projector that also reads images and positions in
// several dimensions (Qwen2.5-Omni).
import { readFile } from "node:fs/promises";
import path from "node:path";
import {
  load,
  projectorTraits,
  type LoadedModel,
  type LoadOptions,
  type Message,
  type RgbImage,
} from "@ingle/engine";
import {
  drawImage,
  drawSound,
  encodeFlac,
  encodeWav,
  exactArithmetic,
  tinyAudioModel,
  tinyModel,
  tinyVisionModel,
} from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { within } from "./tiny.ts";

const options: LoadOptions = { threads: 1, ...exactArithmetic, contextLength: 2048 };
const mp3 = path.join(import.meta.dirname, "../../../vendor/llama.cpp/source/tools/mtmd/test-2.mp3");

type Part = string | Uint8Array | RgbImage;

function user(...parts: Part[]): Message {
  return {
    role: "user",
    content: parts.map((part) => {
      if (typeof part === "string") return { type: "text", text: part };
      return part instanceof Uint8Array ? { type: "audio", audio: part } : { type: "image", image: part };
    }),
  };
}

function sound(number: number, seconds = 3): Buffer {
  return encodeWav(drawSound(number, { seconds }));
}

const models = {
  ultravox: async () => tinyAudioModel({ architecture: "lfm2", audio: "ultravox" }),
  lfm2a: async () => tinyAudioModel({ architecture: "lfm2", audio: "lfm2a" }),
  omni: async () => tinyVisionModel({ architecture: "qwen2vl", audio: "qwen2a" }),
};

describe.each([
  { kind: "ultravox", tokens: 125, engine: "process" },
  { kind: "omni", tokens: 750, engine: "in-process" },
] as const)("a model that takes audio, $kind", ({ kind, tokens, engine }) => {
  let loaded: LoadedModel;
  beforeAll(async () => {
    const { model, projector } = await models[kind]();
    loaded = await load(model, { ...options, mmproj: projector, engine });
  });
  afterAll(() => loaded[Symbol.asyncDispose]());

  const ask = async (...parts: Part[]) =>
    within(
      60_000,
      loaded.model.generate({ messages: [user(...parts)], temperature: 0, maxTokens: 12, ignoreEos: true }),
    );

  it("reports what it reads, before and after it is loaded", async () => {
    const reads = { readsImages: kind === "omni", readsAudio: true };
    expect(loaded.model.info).toMatchObject(reads);
    expect(await projectorTraits((await models[kind]()).projector)).toEqual(reads);
  });

  it("replies depending on what it hears, and counts its tokens", async () => {
    const one = await ask("What is this?", sound(1));
    const other = await ask("What is this?", sound(2));
    expect(other.text).not.toBe(one.text);
    expect(one.usage).toMatchObject({ audioTokens: tokens, completionTokens: 12 });
    expect(one.usage.promptTokens).toBeGreaterThan(tokens);
    const both = await ask("Which one?", sound(1), sound(2));
    expect(both.usage.audioTokens).toBe(2 * tokens);
    expect((await ask("Just a text.")).usage.audioTokens).toBe(0);
  });

  it("hears the same in every format", async () => {
    const samples = drawSound(3);
    const wav = await ask("Write: ", encodeWav(samples), "please");
    const flac = await ask("Write: ", encodeFlac(samples), "please");
    expect(flac.text).toBe(wav.text);
    expect(flac.usage.cachedTokens).toBeGreaterThan(tokens); // equal samples are the same audio
    const { usage } = await ask("Write: ", await readFile(mp3));
    expect(usage.audioTokens).toBe(tokens);
  });

  it("refuses audio that is damaged or too much, and goes on", async () => {
    const damaged = encodeFlac(drawSound(4)).subarray(0, 60);
    await expect(ask("What?", damaged)).rejects.toMatchObject({
      code: "audio_invalid",
      details: { param: "messages" },
    });
    await expect(ask("What?", Buffer.from("no audio"))).rejects.toMatchObject({ code: "audio_invalid" });
    await expect(ask("What?", sound(1, 0.05))).rejects.toMatchObject({ code: "audio_invalid" });
    const long = encodeWav(new Float32Array(8000 * 601), { sampleRate: 8000 });
    await expect(ask("What?", long)).rejects.toMatchObject({ code: "audio_too_large" });
    await expect(ask(...Array.from({ length: 17 }, () => sound(1)))).rejects.toMatchObject({
      code: "audio_too_large",
    });
    expect((await ask("What is this?", sound(1))).usage.audioTokens).toBe(tokens);
  });

  it("stops encoding when nobody waits for the reply any more", async () => {
    const abort = new AbortController();
    const generation = loaded.model.generate(
      { messages: [user(sound(5, 100), "What is this?")], maxTokens: 4 },
      { signal: abort.signal },
    );
    abort.abort();
    await expect(within(60_000, generation)).rejects.toBe(abort.signal.reason);
    expect((await ask("What is this?", sound(1))).usage.completionTokens).toBe(12);
  });
});

it("LFM2-Audio's tokens follow the audio's length, and a longer one than its encoder takes is refused", async () => {
  const { model, projector } = await models.lfm2a();
  await using loaded = await load(model, { ...options, mmproj: projector });
  const ask = async (number: number, seconds: number) =>
    await loaded.model.generate({
      messages: [user("What is this?", sound(number, seconds))],
      temperature: 0,
      maxTokens: 12,
      ignoreEos: true,
    });
  const [one, other] = [await ask(1, 3), await ask(2, 3)];
  expect(one.text).not.toBe(other.text);
  expect(one.usage.audioTokens).toBe(38);
  expect((await ask(1, 30)).usage.audioTokens).toBe(376);
  await expect(ask(1, 33)).rejects.toMatchObject({
    code: "audio_invalid",
    message: expect.stringContaining("32 seconds"),
  });
  expect((await ask(1, 3)).text).toBe(one.text);
});

it("a projector for images and audio reads both in one message", async () => {
  const { model, projector } = await models.omni();
  await using loaded = await load(model, { ...options, mmproj: projector });
  const { width, height, data } = drawImage("disc", 96, 64);
  const image: RgbImage = { width, height, data };
  const reply = async (...parts: Part[]) =>
    (
      await loaded.model.generate({
        messages: [user(...parts)],
        temperature: 0,
        maxTokens: 12,
        ignoreEos: true,
      })
    ).text;
  const texts = [
    await reply("Compare: ", image, sound(1)),
    await reply("Compare: ", sound(1), image),
    await reply("Compare: ", image, sound(2)),
  ];
  expect(new Set(texts).size).toBe(3);
});

it("a model that takes no audio says so", async () => {
  await using text = await load(await tinyModel(), { threads: 1 });
  const refused = { code: "audio_not_supported", details: { param: "messages" } };
  await expect(text.model.generate({ messages: [user("What?", sound(1))] })).rejects.toMatchObject(refused);
  const seeing = await tinyVisionModel({ architecture: "lfm2" });
  await using sees = await load(seeing.model, { ...options, mmproj: seeing.projector });
  expect(sees.model.info).toMatchObject({ readsImages: true, readsAudio: false });
  await expect(sees.model.generate({ messages: [user("What?", sound(1))] })).rejects.toMatchObject(refused);
  const hearing = await models.ultravox();
  await using hears = await load(hearing.model, { ...options, mmproj: hearing.projector });
  const { width, height, data } = drawImage("disc", 96, 64);
  await expect(
    hears.model.generate({ messages: [user("What?", { width, height, data })] }),
  ).rejects.toMatchObject({ code: "image_not_supported" });
});
