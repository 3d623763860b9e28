// The ollama package with a real server over a real socket: chat, generate, tools, schemas, embeddings, models in memory, errors.
import { drawImage, encodePng } from "@ingle/fixtures";
import { Ollama, type ChatResponse, type Message } from "ollama";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelId, realServer, type RealServer } from "../real-server.ts";
import { cities, foreignServer, question, weatherParameters, weatherText } from "./desk.ts";

const flags = { ollamaApi: true };

function makeClient({ baseUrl }: RealServer, headers: Record<string, string> = {}): Ollama {
  return new Ollama({ host: baseUrl.replace(/\/v1$/, ""), headers });
}

const messages = [{ role: "user", content: question }];
const greedy = { temperature: 0, num_predict: 12 };
const tool = {
  type: "function",
  function: { name: "weather", description: "The weather in a city", parameters: weatherParameters },
};

describe("generation with the ollama package", () => {
  let server: RealServer;
  let ollama: Ollama;
  beforeAll(async () => {
    server = await foreignServer(undefined, { flags });
    ollama = makeClient(server);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("replies to a chat, with counts and nanoseconds", async () => {
    const reply = await ollama.chat({ model: modelId, messages, options: greedy });
    expect(reply).toMatchObject({ model: modelId, done: true, done_reason: "length", eval_count: 12 });
    expect(reply.message.role).toBe("assistant");
    expect(Date.parse(String(reply.created_at))).toBeGreaterThan(0);
    expect(reply.prompt_eval_count).toBeGreaterThan(3);
    expect(reply.total_duration).toBeGreaterThan(reply.eval_duration);
    expect(reply.eval_duration).toBeGreaterThan(1_000); // 12 tokens take more than a microsecond
  });

  it("streams the same text", async () => {
    const whole = await ollama.chat({ model: modelId, messages, options: greedy });
    const parts: ChatResponse[] = [];
    for await (const part of await ollama.chat({ model: modelId, messages, options: greedy, stream: true }))
      parts.push(part);
    expect(parts.map(({ message }) => message.content).join("")).toBe(whole.message.content);
    expect(parts.map(({ done }) => done)).toEqual([...parts.slice(1).map(() => false), true]);
    expect(parts.at(-1)).toMatchObject({ done_reason: "length", eval_count: 12 });
  });

  it("completes a prompt through the template as the chat does, and a raw one without it", async () => {
    const chat = await ollama.chat({ model: modelId, messages, options: greedy });
    const templated = await ollama.generate({ model: modelId, prompt: question, options: greedy });
    expect(templated.response).toBe(chat.message.content);
    const raw = await ollama.generate({ model: modelId, prompt: question, raw: true, options: greedy });
    expect(raw.prompt_eval_count).toBeLessThan(templated.prompt_eval_count);
    const texts: string[] = [];
    const request = { model: modelId, prompt: question, options: greedy, stream: true as const };
    for await (const { response } of await ollama.generate(request)) texts.push(response ?? "");
    expect(texts.join("")).toBe(templated.response);
  });

  it("follows seed, top_k and stop", async () => {
    const options = { seed: 7, temperature: 2, top_k: 30, num_predict: 16 };
    const text = async (more: object = {}): Promise<string> =>
      (await ollama.chat({ model: modelId, messages, options: { ...options, ...more } })).message.content;
    const first = await text();
    expect(await text()).toBe(first);
    expect(await text({ seed: 8 })).not.toBe(first);
    const cut = first.slice(2, 5);
    expect(await text({ stop: [cut] })).toBe(first.slice(0, first.indexOf(cut)));
  });

  it("replies in JSON of a schema", async () => {
    const format = { type: "object", properties: { city: { enum: [...cities] } }, required: ["city"] };
    const { message } = await ollama.chat({
      model: modelId,
      messages,
      format,
      options: { temperature: 0, num_predict: 200 },
    });
    expect(cities).toContain(JSON.parse(message.content).city);
  });

  it("returns log probabilities", async () => {
    const { logprobs = [] } = await ollama.chat({
      model: modelId,
      messages,
      logprobs: true,
      top_logprobs: 2,
      options: greedy,
    });
    expect(logprobs.length).toBeGreaterThan(0);
    expect(logprobs[0]?.top_logprobs).toHaveLength(2);
    expect(logprobs[0]?.logprob).toBeLessThan(0);
  });

  it.each(["tiny:latest", "tiny"])("takes the name %s", async (model) => {
    const { message } = await ollama.chat({ model, messages, options: greedy });
    expect(message.content).not.toBe("");
  });

  it("loads a model for a request without a prompt, and keeps it as long as it says", async () => {
    const loaded = await ollama.generate({ model: modelId, prompt: "", keep_alive: "10m" });
    expect(loaded).toMatchObject({ done: true, done_reason: "load", response: "" });
    const { models } = await ollama.ps();
    expect(models).toMatchObject([{ name: modelId, details: { format: "gguf" } }]);
    const inMinutes = (Date.parse(String(models[0]?.expires_at)) - Date.now()) / 60_000;
    expect(inMinutes).toBeGreaterThan(9);
    expect(inMinutes).toBeLessThan(11);
    await ollama.chat({ model: modelId, messages: [], keep_alive: -1 });
    const kept = await ollama.ps();
    expect(Date.parse(String(kept.models[0]?.expires_at))).toBeGreaterThan(
      Date.now() + 20 * 365 * 86_400_000,
    );
  });

  it("unloads a model that nothing keeps, and loads it again", async () => {
    const unloaded = await ollama.chat({ model: modelId, messages: [], keep_alive: 0 });
    expect(unloaded).toMatchObject({ done: true, done_reason: "unload" });
    expect(await ollama.ps()).toEqual({ models: [] });
    await ollama.chat({ model: modelId, messages, options: greedy, keep_alive: 0 });
    await expect.poll(() => ollama.ps(), { timeout: 10_000 }).toEqual({ models: [] });
  });

  it("lists and describes models", async () => {
    await ollama.chat({ model: modelId, messages, options: greedy, keep_alive: -1 });
    const { models } = await ollama.list();
    expect(models).toMatchObject([{ name: modelId, model: modelId, details: { families: ["llama"] } }]);
    const shown = await ollama.show({ model: modelId });
    expect(shown.capabilities).toContain("completion");
    expect(shown.model_info).toMatchObject({
      "general.architecture": "llama",
      "llama.context_length": 2048,
    });
    expect((await ollama.version()).version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it.each([
    [{ mirostat: 3 }, "mirostat"],
    [{ typical_p: 1.5 }, "typical_p"],
    [{ temperature: -1 }, "temperature"],
  ])("refuses the options %j by name", async (options: object, field) => {
    const asked = ollama.chat({ model: modelId, messages, options });
    await expect(asked).rejects.toMatchObject({
      name: "ResponseError",
      status_code: 400,
      message: expect.stringContaining(field),
    });
  });

  it("answers with options that it does not know, and names them in a header", async () => {
    let ignored: string | null = null;
    const watching = new Ollama({
      host: server.baseUrl.replace(/\/v1$/, ""),
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        ignored = response.headers.get("x-ingle-ignored");
        return response;
      },
    });
    const options: object = { no_such_option: 1, num_predict: 1 };
    expect((await watching.chat({ model: modelId, messages, options })).done).toBe(true);
    expect(ignored).toBe("options.no_such_option");
  });

  it("refuses an unknown model and a context from an earlier reply", async () => {
    await expect(ollama.chat({ model: "absent", messages })).rejects.toMatchObject({ status_code: 404 });
    const earlier = ollama.generate({ model: modelId, prompt: question, context: [1, 2] });
    await expect(earlier).rejects.toMatchObject({
      status_code: 400,
      message: expect.stringMatching(/context/),
    });
    await expect(ollama.delete({ model: "absent" })).rejects.toMatchObject({ status_code: 404 });
  });

  it("names hints about loading as ignored", async () => {
    const response = await fetch(server.baseUrl.replace("/v1", "/api/chat"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: modelId, messages, stream: false, options: { ...greedy, num_gpu: 1 } }),
    });
    expect(response.headers.get("x-ingle-ignored")).toBe("options.num_gpu");
  });

  it("streams one JSON object a line", async () => {
    const response = await fetch(server.baseUrl.replace("/v1", "/api/chat"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: modelId, messages, options: greedy }),
    });
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const lines = (await response.text()).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(2);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ done: true });
  });
});

describe("tools with the ollama package", () => {
  let server: RealServer;
  let ollama: Ollama;
  beforeAll(async () => {
    server = await foreignServer("Qwen-Qwen2.5-7B-Instruct", { flags });
    ollama = makeClient(server);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("sends calls back with their results", async () => {
    const call = { function: { name: "weather", arguments: { city: "Rome" } } };
    const conversation: Message[] = [
      ...messages,
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", content: weatherText, tool_name: "weather" },
    ];
    const without = await ollama.chat({ model: modelId, messages, tools: [tool], options: greedy });
    const reply = await ollama.chat({
      model: modelId,
      messages: conversation,
      tools: [tool],
      options: greedy,
    });
    expect(reply.done).toBe(true);
    expect(reply.prompt_eval_count).toBeGreaterThan(without.prompt_eval_count + 10);
  });
});

it("calls that the model writes come whole, the same streamed as in one piece", async () => {
  await using server = await foreignServer("meta-llama-Llama-3.1-8B-Instruct", { flags });
  const ollama = makeClient(server);
  // Next to a text of two letters, random weights soon choose calls.
  const request = { model: modelId, messages, tools: [tool], format: { enum: ["no"] } };
  const options = (seed: number) => ({
    seed,
    temperature: 10,
    top_k: 0,
    top_p: 1,
    min_p: 0,
    num_predict: 400,
  });
  let seed = 0;
  let calls: Message["tool_calls"];
  while (calls === undefined && (seed += 1) < 40)
    calls = (await ollama.chat({ ...request, options: options(seed) })).message.tool_calls;
  expect(calls?.[0]?.function).toMatchObject({
    name: "weather",
    arguments: { city: expect.toBeOneOf([...cities]) },
  });
  const parts: ChatResponse[] = [];
  for await (const part of await ollama.chat({ ...request, options: options(seed), stream: true }))
    parts.push(part);
  const functions = (from: Message["tool_calls"]) => from?.map((call) => call.function);
  expect(functions(parts.at(-2)?.message.tool_calls)).toEqual(functions(calls));
  expect(parts.map(({ message }) => message.content).join("")).toBe("");
  expect(parts.at(-1)).toMatchObject({ done: true });
});

it("a chat and a prompt see their images", async () => {
  await using server = await realServer({ vision: "lfm2", load: { contextLength: 2048 }, flags });
  const ollama = makeClient(server);
  const [disc, checks] = await Promise.all(
    (["disc", "checks"] as const).map(async (shape) => encodePng(drawImage(shape, 96, 64))),
  );
  const seeing = async (image: Uint8Array): Promise<ChatResponse> =>
    ollama.chat({
      model: modelId,
      messages: [{ role: "user", content: "What is this?", images: [image] }],
      options: greedy,
    });
  const reply = await seeing(disc!);
  const blind = await ollama.chat({
    model: modelId,
    messages: [{ role: "user", content: "What is this?" }],
    options: greedy,
  });
  expect(reply.prompt_eval_count).toBeGreaterThanOrEqual(blind.prompt_eval_count + 64); // LFM2-VL's minimum for one image
  expect((await seeing(checks!)).message.content).not.toBe(reply.message.content);
  const base64 = Buffer.from(disc!).toString("base64");
  const generated = await ollama.generate({
    model: modelId,
    prompt: "What is this?",
    images: [base64],
    options: greedy,
  });
  expect(generated.response).toBe(reply.message.content);
});

describe("num_ctx", () => {
  it("is an error that names it where the loaded context is smaller", async () => {
    await using server = await realServer({
      fixture: { vocabulary: "qwen2" },
      load: { contextLength: 512 },
      flags,
    });
    const ask = (num_ctx: number) =>
      makeClient(server).chat({ model: modelId, messages, options: { ...greedy, num_ctx } });
    expect((await ask(512)).done).toBe(true);
    await expect(ask(1024)).rejects.toMatchObject({
      status_code: 400,
      message: expect.stringMatching(/options\.num_ctx is 1024.* 512 tokens/),
    });
  });
});

describe("embeddings with the ollama package", () => {
  let server: RealServer;
  let ollama: Ollama;
  beforeAll(async () => {
    server = await realServer({ fixture: { architecture: "bert" }, flags });
    ollama = makeClient(server);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("are vectors of length 1, equal for equal texts", async () => {
    const input = ["The harbour is quiet.", "The harbour is quiet.", "Copper and rain"];
    const { embeddings, prompt_eval_count } = await ollama.embed({ model: modelId, input });
    const [first = [], same = [], other = []] = embeddings;
    for (const [index, value] of first.entries()) expect(same[index]).toBeCloseTo(value, 5);
    expect(other).not.toEqual(first);
    expect(Math.hypot(...first)).toBeCloseTo(1, 5);
    expect(prompt_eval_count).toBeGreaterThan(10);
    const { embedding } = await ollama.embeddings({ model: modelId, prompt: input[0] ?? "" });
    expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
  });

  it("cut a text that is too long, unless truncate is false", async () => {
    const input = "harbour ".repeat(5_000);
    const { embeddings } = await ollama.embed({ model: modelId, input });
    expect(Math.hypot(...(embeddings[0] ?? []))).toBeCloseTo(1, 5);
    await expect(ollama.embed({ model: modelId, input, truncate: false })).rejects.toMatchObject({
      status_code: 400,
    });
  });
});

describe("access with the ollama package", () => {
  it("lets an inference key generate and list, and neither pull, delete nor unload", async () => {
    const keys = { apiKey: ["inference-key"], adminKey: ["admin-key"] };
    await using server = await foreignServer(undefined, { flags: { ...flags, ...keys } });
    const user = makeClient(server, { Authorization: "Bearer inference-key" });
    expect((await user.list()).models).toHaveLength(1);
    const reply = await user.chat({ model: modelId, messages, options: greedy, keep_alive: "1m" });
    expect(reply.done).toBe(true);
    const refused = { status_code: 403 };
    await expect(user.pull({ model: "org/repo" })).rejects.toMatchObject(refused);
    await expect(user.delete({ model: modelId })).rejects.toMatchObject(refused);
    await expect(user.generate({ model: modelId, prompt: "", keep_alive: 0 })).rejects.toMatchObject(refused);
    await expect(makeClient(server).list()).rejects.toMatchObject({ status_code: 401 });
    const admin = makeClient(server, { Authorization: "Bearer admin-key" });
    const unloaded = await admin.generate({ model: modelId, prompt: "", keep_alive: 0 });
    expect(unloaded.done_reason).toBe("unload");
  });

  it("is nowhere unless --ollama-api turns it on", async () => {
    await using server = await foreignServer();
    await expect(makeClient(server).list()).rejects.toMatchObject({ status_code: 404 });
  });
});
