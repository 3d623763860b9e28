// Text completions, tokenization and detokenization over HTTP with a tiny model.
import {
  ChatCompletion,
  Completion,
  CompletionChunk,
  Detokenization,
  ErrorBody,
  Tokenization,
  type CompletionLogprobs,
} from "@ingle/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectSoundResponses } from "./hostile-bodies.ts";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

const vocabularies = { llama: "llama-spm", coder: "starcoder" } as const;

async function post(server: RealServer, path: string, body: object): Promise<Response> {
  return fetch(`${server.baseUrl}/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: modelId, ...body }),
  });
}

async function ok(server: RealServer, path: string, body: object): Promise<unknown> {
  const response = await post(server, path, body);
  const json: unknown = await response.json();
  expect([response.status, json]).toEqual([200, expect.anything()]);
  return json;
}

const greedy = { temperature: 0, max_tokens: 12 };

describe.each(Object.entries(vocabularies))("with the vocabulary of %s", (_, vocabulary) => {
  let server: RealServer;
  beforeAll(async () => {
    server = await realServer({ fixture: { vocabulary }, load: { contextLength: 512, parallel: 4 } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const complete = async (body: object): Promise<Completion> =>
    Completion.parse(await ok(server, "completions", { ...greedy, ...body }));
  const listTexts = ({ choices }: Completion): string[] => choices.map(({ text }) => text);
  const tokenize = async (body: object): Promise<Tokenization> =>
    Tokenization.parse(await ok(server, "tokenize", body));
  const tokenIds = async (body: object): Promise<number[]> =>
    (await tokenize(body)).tokens.map((token) => (typeof token === "number" ? token : token.id));
  const detokenize = async (tokens: number[]): Promise<string> =>
    Detokenization.parse(await ok(server, "detokenize", { tokens })).content;

  const prompt = "The river carried copper lanterns, größer als je zuvor 🦆.";

  it("completes a text and its token ids alike", async () => {
    const [text] = listTexts(await complete({ prompt }));
    expect(listTexts(await complete({ prompt: await tokenIds({ content: prompt }) }))).toEqual([text]);
    expect(text).not.toBe("");
  });

  it("completes several prompts as it completes each alone", async () => {
    const prompts = ["One river", "Two lanterns in the winter", "Three"];
    const alone = await Promise.all(prompts.map((each) => complete({ prompt: each })));
    const together = await complete({ prompt: prompts });
    expect(listTexts(together)).toEqual(alone.flatMap(listTexts));
    const sum = (count: (usage: Completion["usage"]) => number): number =>
      alone.reduce((all, { usage }) => all + count(usage), 0);
    expect(together.usage).toMatchObject({
      prompt_tokens: sum((usage) => usage.prompt_tokens),
      completion_tokens: sum((usage) => usage.completion_tokens),
    });
  });

  it("echoes a text prompt as it was, and token ids as text that has these ids again", async () => {
    const [text = ""] = listTexts(await complete({ prompt }));
    expect(listTexts(await complete({ prompt, echo: true }))).toEqual([`${prompt}${text}`]);
    const ids = await tokenIds({ content: prompt });
    const [echoed = ""] = listTexts(await complete({ prompt: ids, echo: true }));
    expect(echoed.endsWith(text)).toBe(true);
    expect(await tokenIds({ content: echoed.slice(0, echoed.length - text.length) })).toEqual(ids);
  });

  it("streams the same text, with probabilities that add up to those of the whole completion", async () => {
    const body = { prompt: [prompt, "Once"], n: 2, seed: 3, max_tokens: 20, temperature: 1, logprobs: 3 };
    const whole = await complete(body);
    const raw = await (await post(server, "completions", { ...body, stream: true })).text();
    const chunks = raw
      .split("\n\n")
      .filter((event) => event.startsWith("data: {"))
      .map((event) => CompletionChunk.parse(JSON.parse(event.slice(6))));
    for (const { index, text, logprobs } of whole.choices) {
      const own = chunks.flatMap(({ choices }) => choices).filter((choice) => choice.index === index);
      expect(own.map((choice) => choice.text).join("")).toBe(text);
      const told = (field: keyof CompletionLogprobs): unknown[] =>
        own.flatMap((choice): unknown[] => choice.logprobs?.[field] ?? []);
      expect(told("tokens")).toEqual(logprobs?.tokens);
      expect(told("text_offset")).toEqual(logprobs?.text_offset);
      // Other sequences in the batch change the sixth digit (real-server.ts); a wrong token changes the first.
      expect(told("token_logprobs")).toEqual(
        logprobs?.token_logprobs.map((value) => expect.closeTo(Number(value), 3)),
      );
      expect(told("top_logprobs")).toHaveLength(logprobs!.top_logprobs.length);
    }
  });

  it("returns each token's offset in the text with logprobs, and that many of the likeliest tokens", async () => {
    const { choices } = await complete({ prompt, logprobs: 2 });
    const { text, logprobs } = choices[0]!;
    const characters = Array.from(text);
    expect(logprobs?.tokens).toHaveLength(greedy.max_tokens);
    for (const [index, token] of logprobs!.tokens.entries()) {
      const begin = logprobs!.text_offset[index]!;
      if (!token.startsWith("bytes:"))
        expect(characters.slice(begin, begin + Array.from(token).length).join("")).toBe(token);
      const told = logprobs!.top_logprobs[index]!;
      expect(Object.keys(told).length).toBeLessThanOrEqual(3);
      expect(told[token]).toBe(logprobs!.token_logprobs[index]);
      expect(Math.max(...Object.values(told))).toBe(told[token]); // at temperature 0, it is the likeliest
    }
  });

  it("biases the tokens of texts, given in pairs", async () => {
    const [seven] = listTexts(await complete({ prompt, logit_bias: [["7", 100]], max_tokens: 4 }));
    expect(seven).toMatch(/^[7 ]{4}$/); // some vocabularies begin a text with a space
    const ids = await tokenIds({ content: "7", add_special: false });
    const pairs = ids.map((id): [number, number] => [id, 100]);
    expect(listTexts(await complete({ prompt, logit_bias: pairs, max_tokens: 4 }))).toEqual([seven]);
    const free = await complete({ prompt, max_tokens: 1, ignore_eos: true, return_tokens: true });
    const [id = -1] = free.choices[0]?.tokens ?? [];
    const banned = await complete({ prompt, logit_bias: [[id, false]], max_tokens: 1, return_tokens: true });
    expect(banned.choices[0]?.tokens).not.toEqual([id]);
  });

  it("constrains a completion to a grammar or a schema", async () => {
    const grammar = 'root ::= "yes" | "no"';
    expect(["yes", "no"]).toContain(listTexts(await complete({ prompt, grammar }))[0]);
    const response_format = { type: "json_object" };
    expect(listTexts(await complete({ prompt, response_format }))[0]).toMatch(/^\{/);
  });

  it("returns tokens that decode to the text, with pieces that make it up", async () => {
    const { tokens, count } = await tokenize({ content: prompt, with_pieces: true, add_special: false });
    expect(count).toBe(tokens.length);
    const pieces = tokens.map((token) => (typeof token === "number" ? [] : token.piece));
    const bytes = pieces.map((piece) =>
      typeof piece === "string" ? Buffer.from(piece) : Buffer.from(piece),
    );
    expect(Buffer.concat(bytes).toString().trim()).toBe(prompt);
    expect((await detokenize(await tokenIds({ content: prompt, add_special: false }))).trim()).toBe(prompt);
  });

  it("counts a conversation's tokens like a chat request", async () => {
    const messages = user("Tell me about rivers.");
    const response = await server.post({ messages, max_tokens: 1 });
    const { usage } = ChatCompletion.parse(await response.json());
    expect(await tokenize({ messages })).toMatchObject({ count: usage.prompt_tokens, max_model_len: 512 });
  });

  it("says how long a prompt is that is too long", async () => {
    const response = await post(server, "completions", { prompt: ["a", "word ".repeat(600)] });
    const { error } = ErrorBody.parse(await response.json());
    expect([response.status, error]).toMatchObject([400, { code: "context_length_exceeded", n_ctx: 512 }]);
  });

  it("answers every body with a valid response or a documented error, and continues", async () => {
    const common = { model: modelId, max_tokens: 2, n: 2, seed: 1 };
    const odd = ["\uD800", "\0", "<s>", "<s><s>", "</s>", "<fim_prefix>", "\uFFFF", "🦆".repeat(500)];
    await expectSoundResponses(
      server.baseUrl,
      {
        path: "/completions",
        body: { ...common, prompt: ["a", "b"], logprobs: 1, stop: ["x"] },
        response: Completion,
        event: CompletionChunk,
        border: {
          prompt: [...odd, [1], [0], [49_151], [31_999], [2 ** 31 - 1]],
          suffix: odd,
          stream: [true],
        },
      },
      { runs: 60 },
    );
    await expectSoundResponses(
      server.baseUrl,
      {
        path: "/tokenize",
        body: { content: "Hi", with_pieces: true, add_special: true },
        response: Tokenization,
        border: { content: odd },
      },
      { runs: 60 },
    );
    await expectSoundResponses(
      server.baseUrl,
      {
        path: "/detokenize",
        body: { tokens: [1, 2, 3] },
        response: Detokenization,
        border: { tokens: [[0], [31_999, 0], [2 ** 31 - 1]] },
      },
      { runs: 60 },
    );
  });
});

describe("a text that starts with the model's own start token", () => {
  it("has it once, in a completion, a chat and a tokenization", async () => {
    await using server = await realServer({ load: { contextLength: 256 } });
    const tokens = async (body: object) => Tokenization.parse(await ok(server, "tokenize", body)).tokens;
    const plain = await tokens({ content: "Once" });
    expect(plain[0]).toBe(1);
    expect(await tokens({ content: "<s>Once" })).toEqual(plain);
    expect(await tokens({ content: "<s>" })).toEqual([1]);
    expect(await tokens({ content: "Once", add_special: false })).toEqual(plain.slice(1));
    expect(await tokens({ content: "<s>Once", add_special: false })).toEqual(plain);
    expect(await tokens({ content: "<s>Once", parse_special: false })).not.toEqual(plain);
    const { usage } = Completion.parse(await ok(server, "completions", { prompt: "<s>Once" }));
    expect(usage.prompt_tokens).toBe(plain.length);
  });
});

describe("a suffix", () => {
  it("is put behind the gap with the model's own tokens", async () => {
    await using server = await realServer({
      fixture: { vocabulary: "starcoder" },
      load: { contextLength: 256 },
    });
    const ids = async (content: string, parse_special = true) =>
      Tokenization.parse(await ok(server, "tokenize", { content, parse_special })).tokens;
    const body = { ...greedy, prompt: "def f(a):\n", suffix: "\nreturn b <fim_suffix>" };
    const gap = [
      ...(await ids("<fim_prefix>")),
      ...(await ids(body.prompt)),
      ...(await ids("<fim_suffix>")),
      ...(await ids(body.suffix, false)),
      ...(await ids("<fim_middle>")),
    ];
    const filled = Completion.parse(await ok(server, "completions", body));
    const spelled = Completion.parse(await ok(server, "completions", { ...greedy, prompt: gap }));
    expect(filled.usage.prompt_tokens).toBe(gap.length);
    expect(filled.choices[0]?.text).toBe(spelled.choices[0]?.text);
    const echoed = Completion.parse(await ok(server, "completions", { ...body, echo: true }));
    expect(echoed.choices[0]?.text).toBe(`${body.prompt}${filled.choices[0]?.text}`);
  });

  it("is a 400 that names it if the model has no such tokens, streamed or not", async () => {
    await using server = await realServer({ load: { contextLength: 256 } });
    for (const stream of [false, true]) {
      const response = await post(server, "completions", { prompt: "a", suffix: "b", stream });
      const { error } = ErrorBody.parse(await response.json());
      expect([response.status, error]).toMatchObject([400, { code: "invalid_request", param: "suffix" }]);
    }
  });
});

describe("a large text", () => {
  it("is tokenized while other requests are answered", async () => {
    await using server = await realServer({ load: { contextLength: 256 } });
    const content = "The river carried copper lanterns. ".repeat(20_000);
    const done = new AbortController();
    const large = ok(server, "tokenize", { content }).finally(() => done.abort());
    let answered = 0;
    while (!done.signal.aborted) {
      await ok(server, "completions", { prompt: "a", max_tokens: 1 });
      answered += 1;
    }
    expect(Tokenization.parse(await large).count).toBeGreaterThan(100_000);
    expect(answered).toBeGreaterThan(3);
  });
});
