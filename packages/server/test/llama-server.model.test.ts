// llama-server's API with a real server over a real socket, with requests as its documentation shows them.
import { drawSound, encodeWav } from "@ingle/fixtures";
import {
  ErrorBody,
  LlamaServerChunk,
  LlamaServerCompletion,
  LlamaServerEmbeddings,
  LlamaServerError,
  LlamaServerProps,
  LlamaServerSlots,
} from "@ingle/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { expectDocumented } from "./documented.ts";
import { chatTemplate, realServer, user, type RealServer } from "./real-server.ts";

const flags = { llamaServerApi: true, variant: "command-line" };
const prompt = "Building a website can be done in 10 simple steps:";
const greedy = { prompt, temperature: 0, n_predict: 12, top_k: 40 };

let server: RealServer;
let address: string;
beforeAll(async () => {
  server = await realServer({
    fixture: { vocabulary: "starcoder" },
    load: { contextLength: 512, parallel: 4 },
    flags,
  });
  address = server.baseUrl.replace(/\/v1$/, "");
});
afterAll(() => server[Symbol.asyncDispose]());

async function post(path: string, body: object): Promise<Response> {
  return fetch(`${address}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** The response, which is as the API's document says. */
async function ok(path: string, body: object): Promise<unknown> {
  const response = await post(path, body);
  expect(response.status).toBe(200);
  const [json] = await expectDocumented(address, `POST ${path}`, response);
  return json;
}

async function complete(body: object = {}): Promise<LlamaServerCompletion> {
  return LlamaServerCompletion.parse(await ok("/completion", { ...greedy, ...body }));
}

async function completeAll(body: object): Promise<LlamaServerCompletion[]> {
  return z.array(LlamaServerCompletion).parse(await ok("/completion", { ...greedy, ...body }));
}

async function stream(
  body: object = {},
): Promise<{ chunks: LlamaServerChunk[]; ends: LlamaServerCompletion[] }> {
  const response = await post("/completion", { ...greedy, ...body, stream: true });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const events = await expectDocumented(address, "POST /completion", response);
  const isEnd = (event: unknown): boolean => LlamaServerCompletion.safeParse(event).success;
  return {
    chunks: z.array(LlamaServerChunk).parse(events.filter((event) => !isEnd(event))),
    ends: z.array(LlamaServerCompletion).parse(events.filter(isEnd)),
  };
}

async function tokenize(body: object): Promise<number[]> {
  const { tokens } = z.looseObject({ tokens: z.array(z.int()) }).parse(await ok("/tokenize", body));
  return tokens;
}

async function refused(path: string, body: object): Promise<LlamaServerError["error"]> {
  const response = await post(path, body);
  expect(response.status).toBe(400);
  const [json] = await expectDocumented(address, `POST ${path}`, response);
  return LlamaServerError.parse(json).error;
}

describe("POST /completion", () => {
  it("replies with counts, timings and the settings that it followed", async () => {
    const reply = await complete({ seed: 7, stop: ["\u0001"] });
    expect(reply).toMatchObject({
      index: 0,
      stop: true,
      model: "tiny",
      prompt,
      tokens: [],
      tokens_predicted: 12,
      stop_type: "limit",
      stopping_word: "",
      truncated: false,
      generation_settings: {
        n_predict: 12,
        temperature: 0,
        top_k: 40,
        seed: 7,
        stop: ["\u0001"],
        mirostat: 0,
      },
      timings: { predicted_n: 12 },
    });
    expect(reply.tokens_evaluated).toBe((await tokenize({ content: prompt, add_special: true })).length);
    expect(reply.content).not.toBe("");
    expect(reply.timings.predicted_per_token_ms).toBeCloseTo(reply.timings.predicted_ms / 11, 9);
    expect((await complete({ n_predict: 1 })).timings.predicted_per_token_ms).toBe(0);
  });

  it("streams the same text, and ends with a whole reply without text and without [DONE]", async () => {
    const whole = await complete();
    const { chunks, ends } = await stream({});
    expect(chunks.map(({ content }) => content).join("")).toBe(whole.content);
    expect(chunks.at(-1)).toMatchObject({ stop: false, tokens_evaluated: whole.tokens_evaluated });
    expect(chunks.at(-1)).not.toHaveProperty("timings");
    expect(ends).toMatchObject([{ content: "", stop: true, tokens_predicted: 12, stop_type: "limit" }]);
  });

  it("adds timings to every event if asked", async () => {
    const { chunks } = await stream({ timings_per_token: true });
    expect(chunks.every(({ timings }) => timings?.predicted_n !== undefined)).toBe(true);
  });

  it.each([
    ["token ids", async () => await tokenize({ content: prompt, add_special: true })],
    ["a text and token ids", async () => ["Building a", ...(await tokenize({ content: prompt.slice(10) }))]],
    ["an object", async () => ({ prompt_string: prompt })],
  ])("takes a prompt that is %s", async (_, applyTemplate) => {
    const reply = await complete({ prompt: await applyTemplate() });
    expect(reply.prompt).toBe(prompt);
    expect(reply.content).toBe((await complete()).content);
  });

  it("replies to several prompts, and several times to each, with a list", async () => {
    const replies = await completeAll({ prompt: [prompt, [5, 6, 7], { prompt_string: "A" }], n_cmpl: 2 });
    expect(replies.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(replies[1]?.content).toBe(replies[0]?.content);
    expect(replies[4]?.prompt).toBe("A");
    const { ends } = await stream({ prompt: ["A", "B"] });
    const inOrder = ends.toSorted((one, other) => one.index - other.index);
    expect(inOrder.map((end) => end.prompt)).toEqual(["A", "B"]);
  });

  it("returns the ids of the tokens, whole if it should, and always streamed", async () => {
    const { tokens, content } = await complete({ return_tokens: true });
    expect(tokens).toHaveLength(12);
    const { content: text } = z
      .looseObject({ content: z.string() })
      .parse(await ok("/detokenize", { tokens }));
    expect(text).toBe(content);
    expect((await complete()).tokens).toEqual([]);
    const { chunks, ends } = await stream();
    expect(chunks.flatMap((chunk) => chunk.tokens)).toEqual(tokens);
    expect(ends[0]?.tokens).toEqual([]);
  });

  it("returns the probabilities of tokens and of the likeliest ones", async () => {
    const { completion_probabilities: probabilities = [], tokens } = await complete({
      n_probs: 3,
      return_tokens: true,
    });
    expect(probabilities.map(({ id }) => id)).toEqual(tokens);
    for (const { id, logprob, top_logprobs: top } of probabilities) {
      expect(top).toHaveLength(3);
      expect(top[0]).toMatchObject({ id, logprob }); // greedy
    }
    const { chunks } = await stream({ n_probs: 3 });
    const streamed = chunks.flatMap((chunk) => chunk.completion_probabilities ?? []);
    expect(streamed.map(({ id }) => id)).toEqual(tokens);
    expect(await complete()).not.toHaveProperty("completion_probabilities");
  });

  it("ends at a stop string, and says which", async () => {
    const { content } = await complete();
    const word = content.slice(4, 8);
    const reply = await complete({ stop: [word] });
    expect(reply).toMatchObject({ stop_type: "word", stopping_word: word });
    expect(reply.content).toBe(content.slice(0, content.indexOf(word)));
  });

  it("follows seed, repeat_penalty, logit_bias and grammar", async () => {
    const random = { temperature: 2, seed: 3 };
    const { content } = await complete(random);
    expect((await complete(random)).content).toBe(content);
    expect((await complete({ ...random, seed: 4 })).content).not.toBe(content);
    expect((await complete({ ...random, repeat_penalty: 1000, repeat_last_n: -1 })).content).not.toBe(
      content,
    );

    const { tokens } = await complete({ return_tokens: true });
    const [first = -1] = tokens;
    for (const logit_bias of [[[first, false]], { [first]: -100 }])
      expect((await complete({ logit_bias, return_tokens: true })).tokens[0]).not.toBe(first);
    const [digit = -1] = await tokenize({ content: "7" });
    for (const logit_bias of [[["7", 100]], { seven: 0, [digit]: 100 }, [[digit, 100]]])
      expect((await complete({ logit_bias })).content).toBe("7".repeat(12));

    expect((await complete({ grammar: 'root ::= "yes" | "no"' })).content).toMatch(/^(yes|no)$/);
    const schema = { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] };
    const { content: json } = await complete({ json_schema: schema, n_predict: 60 });
    expect(JSON.parse(json)).toEqual({ on: expect.any(Boolean) });
  });

  it("only computes the prompt with n_predict 0, for later requests", async () => {
    const own = "A prompt that nothing else in these tests begins with, and that is computed once.";
    const first = await complete({ prompt: own, n_predict: 0 });
    expect(first).toMatchObject({ content: "", tokens_predicted: 0, stop_type: "limit" });
    expect(first.generation_settings.n_predict).toBe(0);
    const next = await complete({ prompt: own });
    expect(next.tokens_cached).toBeGreaterThan(next.tokens_evaluated / 2);
    expect((await complete({ prompt: own, cache_prompt: false })).tokens_cached).toBe(0);
    const { chunks, ends } = await stream({ prompt: own, n_predict: 0 });
    expect([chunks, ends]).toMatchObject([[], [{ content: "", tokens_predicted: 0 }]]);
  });

  it("returns the fields that the request names", async () => {
    const response = await post("/completion", {
      ...greedy,
      response_fields: ["content", "generation_settings/n_predict", "timings/no_such"],
    });
    expect(await response.json()).toEqual({
      content: (await complete()).content,
      "generation_settings/n_predict": 12,
    });
  });

  it("follows the samplers in their order, and reports them", async () => {
    const given = {
      dry_multiplier: 0.8,
      xtc_probability: 0.5,
      top_n_sigma: 2,
      mirostat: 0,
      dry_penalty_last_n: -1,
    };
    const { generation_settings: settings } = await complete({ ...given, samplers: "dkt" });
    expect(settings).toMatchObject({
      ...given,
      dry_penalty_last_n: 4096,
      samplers: ["dry", "top_k", "temperature"],
      typical_p: 1,
    });
    const likeliest = await complete({ temperature: 0 });
    const narrow = { temperature: 1, seed: 3, top_k: 1 };
    expect((await complete({ ...narrow, samplers: ["top-k"] })).content).toBe(likeliest.content);
    expect((await complete({ ...narrow, samplers: ["temperature"] })).content).not.toBe(likeliest.content);
  });

  it.each([
    [{ typical_p: 1.5 }, "typical_p"],
    [{ samplers: ["top_k", "infill"] }, "samplers"],
    [{ mirostat: 2, adaptive_target: 0.5 }, "adaptive_target"],
    [{ min_tokens: 100 }, "min_tokens"],
    [{ post_sampling_probs: true }, "post_sampling_probs"],
    [{ grammar_lazy: true }, "grammar_lazy"],
    [{ lora: [{ id: 0, scale: 1 }] }, "lora"],
    [{ n_probs: 21 }, "n_probs"],
    [{ grammar: 'root ::= "' }, "grammar"],
    [{ prompt: { prompt_string: "a", multimodal_data: ["AAAA"] } }, "prompt.multimodal_data"],
    [{ prompt: [1, -2] }, "prompt"],
    [{ prompt: [] }, "prompt"],
    [{ logit_bias: [[5, "x"]] }, "logit_bias"],
  ])("refuses %j by name", async (body, field) => {
    const { code, type, param, message } = await refused("/completion", { ...greedy, ...body });
    expect({ code, type }).toEqual({ code: 400, type: "invalid_request_error" });
    expect(param).toMatch(new RegExp(`^${field}\\b`));
    expect(message).toContain(field.split(".").at(-1));
  });

  it("names what it ignores, and nothing that asks for what it does anyway", async () => {
    const ignored = async (body: object): Promise<string | null> => {
      const response = await post("/completion", { ...greedy, ...body });
      expect(response.status).toBe(200);
      return response.headers.get("x-ingle-ignored");
    };
    const usual = { id_slot: -1, n_keep: 0, mirostat: 0, mirostat_tau: 5, return_progress: false, lora: [] };
    expect(await ignored({ ...usual, top_n_sigma: -1, xtc_threshold: 0.1, min_keep: 0 })).toBeNull();
    expect(await ignored({ t_max_predict_ms: 500, "speculative.n_max": 4 })).toBe(
      "t_max_predict_ms, speculative.n_max",
    );
  });

  it("reports a prompt that is too long with both lengths, and knows GET from POST", async () => {
    const error = await refused("/completion", { prompt: "word ".repeat(600) });
    expect(error).toMatchObject({ type: "exceed_context_size_error", n_ctx: 512 });
    expect(error.n_prompt_tokens).toBeGreaterThan(512);
    expect((await fetch(`${address}/completion`)).status).toBe(405);
  });

  it("is also at /completions", async () => {
    expect(LlamaServerCompletion.parse(await ok("/completions", greedy)).content).toBe(
      (await complete()).content,
    );
  });
});

describe("POST /infill", () => {
  const input = {
    input_prefix: "def add(a, b):\n",
    input_suffix: "\nprint(add(1, 2))\n",
    prompt: "    return ",
  };
  const fill = async (body: object = {}): Promise<LlamaServerCompletion> =>
    LlamaServerCompletion.parse(await ok("/infill", { ...input, temperature: 0, n_predict: 4, ...body }));

  it("puts the texts around the gap, and the start of the gap before the suffix", async () => {
    const reply = await fill();
    expect(reply.prompt).toBe(
      `<fim_prefix>${input.input_prefix}${input.prompt}<fim_suffix>${input.input_suffix}<fim_middle>`,
    );
    expect(reply.tokens_predicted).toBe(4);
  });

  it("puts other texts first, and leaves out those that the context has no room for", async () => {
    const old = { filename: "old.py", text: "word ".repeat(600) };
    const near = { filename: "near.py", text: "x = 1\n" };
    const { prompt: text } = await fill({ input_extra: [old, near] });
    expect(text).toContain(near.text);
    expect(text).not.toContain("word word");
    expect(text.indexOf(near.text)).toBeLessThan(text.indexOf("<fim_prefix>"));
  });

  it("refuses what is no text", async () => {
    expect((await refused("/infill", { ...input, input_extra: [{ filename: "a" }] })).param).toMatch(
      /^input_extra/,
    );
    expect((await refused("/infill", { input_prefix: "a" })).param).toBe("input_suffix");
  });
});

describe("other routes", () => {
  it("tokenize without special tokens unless asked, with pieces, and mixed", async () => {
    const plain = await tokenize({ content: "Hello world" });
    expect(await tokenize({ content: ["Hello", ...plain.slice(1)] })).toEqual(plain);
    expect(await tokenize({})).toEqual([]);
    expect(await ok("/tokenize", { content: "á", with_pieces: true })).toMatchObject({
      tokens: [{ piece: "á" }],
    });
  });

  it("format a conversation", async () => {
    const messages = user("Hi");
    expect(await ok("/apply-template", { messages })).toEqual({
      prompt: "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
    });
    expect(await ok("/apply-template", { messages, add_generation_prompt: false })).toEqual({
      prompt: "<|im_start|>user\nHi<|im_end|>\n",
    });
  });

  it("compute embeddings in a list, of length 1 unless asked", async () => {
    const vectors = async (path: string, body: object): Promise<number[][]> =>
      LlamaServerEmbeddings.parse(await ok(path, body)).map(({ embedding }) => embedding[0] ?? []);
    const length = (vector: number[] = []): number => Math.hypot(...vector);
    const [one] = await vectors("/embedding", { content: "Hello" });
    expect(length(one)).toBeCloseTo(1, 5);
    const both = await vectors("/embeddings", { input: ["Hello", await tokenize({ content: "Hello" })] });
    expect(both).toHaveLength(2);
    for (const [index, value] of (one ?? []).entries())
      for (const vector of both) expect(vector[index]).toBeCloseTo(value, 5);
    const [raw] = await vectors("/embedding", { content: "Hello", embd_normalize: -1 });
    expect(length(raw)).not.toBeCloseTo(1, 2);
    expect((await refused("/embedding", { content: "Hello", embd_normalize: 0 })).param).toBe(
      "embd_normalize",
    );
    expect((await refused("/embedding", {})).param).toBe("content");
  });

  it("describe the model, its slots and the list of models", async () => {
    const get = async (path: string): Promise<unknown> => {
      const response = await fetch(`${address}${path}`);
      const [json] = await expectDocumented(address, `GET ${path.split("?")[0]}`, response);
      return json;
    };
    const props = LlamaServerProps.parse(await get("/props"));
    expect(props).toMatchObject({
      total_slots: 4,
      model_alias: "tiny",
      default_generation_settings: { n_ctx: 512, params: { n_predict: -1, temperature: 1, top_k: 50 } },
      modalities: { vision: false },
    });
    expect(props.chat_template).toContain("<|im_start|>");
    expect(props.eos_token).toBe("<|endoftext|>");
    const slots = LlamaServerSlots.parse(await get("/slots"));
    expect(slots).toEqual([0, 1, 2, 3].map((id) => ({ id, n_ctx: 512, is_processing: false })));
    expect(await get("/models")).toMatchObject({
      object: "list",
      data: [{ id: "tiny", meta: { n_ctx: 512 } }],
    });
    expect(await (await fetch(`${address}/health`)).json()).toMatchObject({ status: "ok" });
  });

  it("are those of /v1 without the /v1", async () => {
    const chat = z.object({ choices: z.array(z.object({ message: z.object({ content: z.string() }) })) });
    const body = { messages: user("Hi"), temperature: 0, max_tokens: 8 };
    const bare = chat.parse(await (await post("/chat/completions", body)).json());
    const usual = chat.parse(await (await post("/v1/chat/completions", body)).json());
    expect(bare).toEqual(usual);
  });

  it("write down recordings, or say that the model cannot hear", async () => {
    const form = new FormData();
    form.set("file", new Blob([Buffer.from(encodeWav(drawSound(1)))]), "speech.wav");
    const response = await fetch(`${address}/audio/transcriptions`, { method: "POST", body: form });
    const { error } = ErrorBody.parse(await response.json());
    expect([response.status, error.code]).toEqual([400, "audio_not_supported"]);
  });
});

it("a slot is busy while its request runs, and fail_on_no_slot is a 429 when all are", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const running = Array.from({ length: 4 }, async (_, seed) => {
    const body = JSON.stringify({ prompt, n_predict: 400, ignore_eos: true, seed, stream: true });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${address}/completion`, { method: "POST", headers, body, signal });
    return response.body?.getReader().read();
  });
  await Promise.all(running);
  const slots = LlamaServerSlots.parse(await (await fetch(`${address}/slots`)).json());
  expect(slots.every((slot) => slot.is_processing)).toBe(true);
  expect((await fetch(`${address}/slots?fail_on_no_slot=1`)).status).toBe(429);
  controller.abort();
});

it("a model that is loaded with reasoning off thinks only where a request asks for it", async () => {
  const fixture = { vocabulary: "qwen2", chatTemplate: await chatTemplate("Qwen-Qwen3-0.6B") } as const;
  await using thoughtless = await realServer({
    fixture,
    load: { contextLength: 256, reasoning: "off" },
    flags,
  });
  const applyTemplate = async (more: object): Promise<string> => {
    const response = await fetch(new URL("/apply-template", thoughtless.baseUrl), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: user("Hi"), ...more }),
    });
    return z.object({ prompt: z.string() }).parse(await response.json()).prompt;
  };
  const closed = "<think>\n\n</think>\n\n";
  expect((await applyTemplate({})).endsWith(closed)).toBe(true);
  expect((await applyTemplate({ reasoning_effort: "high" })).endsWith(closed)).toBe(false);
  expect((await applyTemplate({ chat_template_kwargs: { enable_thinking: true } })).endsWith(closed)).toBe(
    false,
  );
});

it("a model without tokens for a gap refuses to fill one", async () => {
  await using plain = await realServer({ load: { contextLength: 256 }, flags });
  const response = await fetch(plain.baseUrl.replace(/v1$/, "infill"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input_prefix: "a", input_suffix: "b" }),
  });
  expect([response.status, await response.json()]).toMatchObject([400, { error: { param: "input_suffix" } }]);
});

it("without the setting there are no such routes", async () => {
  await using plain = await realServer({ load: { contextLength: 256 } });
  const response = await fetch(plain.baseUrl.replace(/v1$/, "completion"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(greedy),
  });
  expect(response.status).toBe(404);
});
