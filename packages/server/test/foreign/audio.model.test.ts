// Audio through the openai package with a real server, whose tiny model's replies depend on what it hears.
import { drawSound, encodeFlac, encodeWav } from "@ingle/fixtures";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelId, realServer, type RealServer } from "../real-server.ts";

/** The tokens of a window of half a minute. */
const audioTokens = 125;

let server: RealServer;
beforeAll(async () => {
  server = await realServer({ audio: "ultravox", load: { contextLength: 512, parallel: 2 } });
});
afterAll(() => server[Symbol.asyncDispose]());

const client = (): OpenAI => new OpenAI({ baseURL: server.baseUrl, apiKey: "anything", maxRetries: 0 });

type Audio = OpenAI.Chat.ChatCompletionContentPartInputAudio;

function part(file: Buffer, format: "wav" | "flac" = "wav"): Audio {
  // The package's types do not have FLAC yet.
  const input_audio = { data: file.toString("base64"), format } as Audio["input_audio"];
  return { type: "input_audio", input_audio };
}

function request(...audios: Audio[]) {
  const content = [...audios, { type: "text" as const, text: "What is this?" }];
  return { model: modelId, messages: [{ role: "user" as const, content }], temperature: 0, max_tokens: 12 };
}

describe("input_audio", () => {
  it("gives replies that depend on the audio, whole and streamed, and counts its tokens", async () => {
    const texts = [];
    for (const number of [1, 2]) {
      const body = request(part(encodeWav(drawSound(number))));
      const { choices, usage } = await client().chat.completions.create(body);
      expect(usage?.prompt_tokens_details?.audio_tokens).toBe(audioTokens);
      expect(usage?.prompt_tokens).toBeGreaterThan(audioTokens);
      let streamed = "";
      const stream = await client().chat.completions.create({ ...body, stream: true });
      for await (const chunk of stream) streamed += chunk.choices[0]?.delta.content ?? "";
      expect(streamed).toBe(choices[0]?.message.content);
      texts.push(streamed);
    }
    expect(texts[0]).not.toBe(texts[1]);
    const { usage } = await client().chat.completions.create(request());
    expect(usage?.prompt_tokens_details).not.toHaveProperty("audio_tokens");
  });

  it("takes an equal audio from the prefix cache, in whatever format it comes", async () => {
    const samples = drawSound(3);
    const first = await client().chat.completions.create(request(part(encodeWav(samples))));
    const second = await client().chat.completions.create(request(part(encodeFlac(samples), "flac")));
    expect(second.choices[0]?.message.content).toBe(first.choices[0]?.message.content);
    expect(second.usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThanOrEqual(audioTokens);
    const other = await client().chat.completions.create(request(part(encodeWav(drawSound(4)))));
    expect(other.usage?.prompt_tokens_details?.cached_tokens).toBeLessThan(audioTokens);
  });

  it("refuses what it cannot hear, naming the field", async () => {
    const data = "messages[0].content[0].input_audio.data";
    const wav = encodeWav(drawSound(5));
    const long = encodeWav(new Float32Array(8000 * 601), { sampleRate: 8000 });
    const cases: [Audio[], { status: number; code: string; param: string }][] = [
      [[part(Buffer.from("no audio"))], { status: 400, code: "audio_invalid", param: data }],
      [
        [part(encodeFlac(drawSound(5)).subarray(0, 60))],
        { status: 400, code: "audio_invalid", param: "messages" },
      ],
      [[part(long)], { status: 413, code: "payload_too_large", param: data }],
      [
        Array.from({ length: 17 }, () => part(wav)),
        { status: 413, code: "payload_too_large", param: "messages[0].content[16].input_audio.data" },
      ],
      [
        [{ type: "input_audio", input_audio: { data: "***", format: "wav" } }],
        { status: 400, code: "audio_invalid", param: data },
      ],
    ];
    for (const [audios, expected] of cases)
      await expect(client().chat.completions.create(request(...audios))).rejects.toMatchObject(expected);
    const odd = { ...part(wav), input_audio: { data: "AAAA", format: "ogg" } } as unknown as Audio;
    await expect(client().chat.completions.create(request(odd))).rejects.toMatchObject({
      status: 400,
      code: "invalid_request",
    });
  });

  it("is a part of responses' input too", async () => {
    const { responses } = client();
    const ask = (...audios: Audio[]) => {
      // The package has the type ResponseInputAudio, but not in its unions yet.
      const content = [
        ...audios,
        { type: "input_text", text: "What is this?" },
      ] as OpenAI.Responses.ResponseInputText[];
      const input = [{ role: "user" as const, content }];
      return responses.create({ model: modelId, input, temperature: 0, max_output_tokens: 16 });
    };
    const [one, other] = [await ask(part(encodeWav(drawSound(1)))), await ask(part(encodeWav(drawSound(2))))];
    expect(one.output_text).not.toBe("");
    expect(one.output_text).not.toBe(other.output_text);
    expect(one.usage?.input_tokens).toBeGreaterThan(audioTokens);
    await expect(ask(part(Buffer.from("no audio")))).rejects.toMatchObject({
      status: 400,
      code: "audio_invalid",
      param: "input[0].content[0].input_audio.data",
    });
  });

  it("is in the model's capabilities", async () => {
    const { data } = await client().models.list();
    expect(data[0]).toMatchObject({
      input_modalities: ["text", "audio"],
      capabilities: expect.arrayContaining(["audio"]),
    });
  });
});

describe("transcriptions", () => {
  const recording = async (bytes: Uint8Array = encodeWav(drawSound(1))): Promise<File> =>
    OpenAI.toFile(bytes, "speech.wav");
  const create = () => client().audio.transcriptions;

  it("are the model's reply to the recording, as JSON, as text and streamed", async () => {
    const { text, usage } = await create().create({ model: modelId, file: await recording() });
    expect(text).not.toBe("");
    expect(usage).toMatchObject({ type: "tokens", input_token_details: { audio_tokens: audioTokens } });
    const other = await create().create({
      model: modelId,
      file: await recording(encodeWav(drawSound(2))),
    });
    expect(other.text).not.toBe(text);
    const plain: unknown = await create().create({
      model: modelId,
      file: await recording(),
      response_format: "text",
    });
    expect(plain).toBe(`${text}\n`);
    const deltas: string[] = [];
    let done: unknown;
    const stream = await create().create({ model: modelId, file: await recording(), stream: true });
    for await (const event of stream) {
      if (event.type === "transcript.text.delta") deltas.push(event.delta);
      if (event.type === "transcript.text.done") done = event;
    }
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join("")).toBe(text);
    expect(done).toMatchObject({ text, usage: { input_token_details: { audio_tokens: audioTokens } } });
  });

  it("depend on the language and the prompt that the model is told", async () => {
    const texts = [];
    for (const told of [{}, { language: "de" }, { prompt: "Ingle, GGUF" }])
      texts.push((await create().create({ model: modelId, file: await recording(), ...told })).text);
    expect(new Set(texts).size).toBe(3);
  });

  it("refuse what is not supported or wrong, naming the field", async () => {
    const file = await recording();
    const cases: [object, object][] = [
      [{ response_format: "srt" }, { status: 400, param: "response_format" }],
      [{ response_format: "verbose_json" }, { status: 400, param: "response_format" }],
      [{ timestamp_granularities: ["word"] }, { status: 400, code: "invalid_request" }],
      [{ language: "no language" }, { status: 400, param: "language" }],
      [{ temperature: 3 }, { status: 400, param: "temperature" }],
      [
        { file: await recording(Buffer.from("no audio")) },
        { status: 400, code: "audio_invalid", param: "file" },
      ],
      [{ file: undefined }, { status: 400, code: "invalid_request", param: "file" }],
      [{ model: "nobody" }, { status: 404, code: "model_not_found" }],
    ];
    for (const [fields, expected] of cases) {
      const body = { model: modelId, file, ...fields };
      await expect(create().create(body as never), JSON.stringify(fields)).rejects.toMatchObject(expected);
    }
    const long = await recording(new Uint8Array(26 * 1024 * 1024));
    await expect(create().create({ model: modelId, file: long })).rejects.toMatchObject({
      status: 413,
      code: "payload_too_large",
    });
  });

  it("refuse forms that are damaged or have too many parts", async () => {
    const post = async (body: BodyInit, type?: string): Promise<number> => {
      const headers = type === undefined ? {} : { headers: { "content-type": type } };
      const url = `${server.baseUrl}/audio/transcriptions`;
      return (await fetch(url, { method: "POST", body, ...headers })).status;
    };
    const many = new FormData();
    for (let field = 0; field < 40; field += 1) many.append(`field${field}`, "x");
    expect(await post(many)).toBe(400);
    expect(await post("--x\r\nno part", "multipart/form-data; boundary=x")).toBe(400);
    expect(await post("--x--", "multipart/form-data")).toBe(400);
    expect(await post('{"file":"UklGRg=="}', "application/json")).toBe(400);
    expect(await post("text", "text/plain")).toBe(415);
    const form = new FormData();
    form.append("file", await recording());
    form.append("model", modelId);
    expect(await post(form)).toBe(200);
  });
});

it("a model without audio input refuses it, naming the part", async () => {
  await using text = await realServer({ load: { contextLength: 256 } });
  const response = await text.post(request(part(encodeWav(drawSound(1)))));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { code: "audio_not_supported", param: "messages[0].content[0]" },
  });
  const openai = new OpenAI({ baseURL: text.baseUrl, apiKey: "anything", maxRetries: 0 });
  const file = await OpenAI.toFile(encodeWav(drawSound(1)), "speech.wav");
  await expect(openai.audio.transcriptions.create({ model: modelId, file })).rejects.toMatchObject({
    status: 400,
    code: "audio_not_supported",
    param: "file",
  });
});
