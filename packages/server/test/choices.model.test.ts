// Several replies to one request, and the probabilities of their tokens, over HTTP with a tiny model.
import { ChatCompletion, ChatCompletionChunk, Completion } from "@ingle/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

type Choice = ChatCompletion["choices"][number];

describe("choices", () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await realServer({ load: { contextLength: 1024, parallel: 4 } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function complete(body: object): Promise<ChatCompletion> {
    const response = await server.post({ messages: user("Tell me about rivers."), max_tokens: 12, ...body });
    expect(response.status).toBe(200);
    return ChatCompletion.parse(await response.json());
  }

  async function stream(body: object): Promise<ChatCompletionChunk[]> {
    const request = { messages: user("Tell me about rivers."), max_tokens: 12, stream: true, ...body };
    const raw = await (await server.post(request)).text();
    expect(raw.endsWith("data: [DONE]\n\n")).toBe(true);
    return raw
      .split("\n\n")
      .filter((event) => event.startsWith("data: {"))
      .map((event) => ChatCompletionChunk.parse(JSON.parse(event.slice(6))));
  }

  const readText = ({ message }: Choice): string => message.content ?? "";

  it("are n different ones, in order, and the same again with the same seed", async () => {
    const response = await complete({ n: 6, seed: 7 });
    expect(response.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(new Set(response.choices.map(readText)).size).toBe(6);
    expect((await complete({ n: 6, seed: 7 })).choices.map(readText)).toEqual(response.choices.map(readText));
    const alone = await complete({ seed: 7 });
    expect(alone.choices.map(readText)).toEqual([readText(response.choices[0]!)]);
    expect(response.usage).toMatchObject({ prompt_tokens: alone.usage.prompt_tokens, completion_tokens: 72 });
  });

  it("of a completion are the best of more, if it says so", async () => {
    const completion = async (body: object): Promise<Completion> => {
      const response = await fetch(`${server.baseUrl}/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: modelId, prompt: "Rivers", seed: 7, max_tokens: 12, ...body }),
      });
      expect(response.status).toBe(200);
      return Completion.parse(await response.json());
    };
    const all = await completion({ n: 6, logprobs: 0 });
    const mean = ({ logprobs }: Completion["choices"][number]): number =>
      (logprobs?.token_logprobs ?? []).reduce<number>((sum, one) => sum + Number(one), 0) / 12;
    const best = all.choices.toSorted((one, other) => mean(other) - mean(one)).map(({ text }) => text);
    const { choices, usage } = await completion({ n: 2, best_of: 6 });
    expect(choices.map(({ text }) => text)).toEqual(best.slice(0, 2));
    expect(choices.map(({ logprobs, index }) => [index, logprobs])).toEqual([
      [0, null],
      [1, null],
    ]);
    expect(usage.completion_tokens).toBe(72);
  });

  it("compute their prompt once", async () => {
    const before = server.model.stats().promptTokens;
    const response = await complete({ n: 4, messages: user("word ".repeat(300)) });
    const computed = server.model.stats().promptTokens - before;
    expect(computed).toBeLessThan(response.usage.prompt_tokens * 1.2);
  });

  it("share one stream, each with its index, with one opening, one end and one usage", async () => {
    const body = { n: 3, seed: 3, stream_options: { include_usage: true } };
    const chunks = await stream(body);
    const whole = await complete({ n: 3, seed: 3 });
    for (const [index, expected] of whole.choices.entries()) {
      const own = chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index));
      expect(own[0]?.delta).toEqual({ role: "assistant", content: null });
      expect(own.map(({ delta }) => delta.content ?? "").join("")).toBe(readText(expected));
      expect(own.map(({ finish_reason }) => finish_reason).filter(Boolean)).toEqual(["length"]);
    }
    expect(
      chunks.filter(({ choices }) => choices.length === 0).map(({ usage }) => usage?.completion_tokens),
    ).toEqual([36]);
  });

  it("are all cancelled when the client disconnects", async () => {
    const leaving = new AbortController();
    const response = await server.post(
      { messages: user("on"), n: 4, max_tokens: 900, stream: true },
      leaving.signal,
    );
    await response.body?.getReader().read();
    leaving.abort();
    await expect
      .poll(() => server.model.stats().running + server.model.stats().waiting, { timeout: 10_000 })
      .toBe(0);
  });

  it("each count towards the waiting queue's limit", async () => {
    await using small = await realServer({
      load: { contextLength: 256, parallel: 1, waitingMax: 2 },
      flags: { waitingMax: 2 },
    });
    const response = await small.post({ messages: user("Hi"), n: 16, max_tokens: 2 });
    expect(response.status).toBe(429);
    expect((await small.post({ messages: user("Hi"), n: 2, max_tokens: 2 })).status).toBe(200);
  });
});

describe("probabilities", () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await realServer({ load: { contextLength: 512 } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  // Computed from scratch each time, in the same steps: the numbers are equal to the last bit.
  const asked = { messages: user("Tell me about rivers."), max_tokens: 20, cache_prompt: false };

  async function choice(body: object): Promise<Choice> {
    const request = { ...asked, ...body };
    const response = ChatCompletion.parse(await (await server.post(request)).json());
    if (response.choices[0] === undefined) throw new Error("no choice");
    return response.choices[0];
  }

  /** The same tokens; what is cached of a prompt changes the sixth digit of their probabilities (real-server.ts). */
  const about = <T extends { logprob: number }>(tokens: readonly T[] = []): T[] =>
    tokens.map((token) => ({ ...token, logprob: expect.closeTo(token.logprob, 4) }));

  it("are null unless they are requested", async () => {
    expect((await choice({})).logprobs).toBeNull();
    expect((await choice({ logprobs: false })).logprobs).toBeNull();
  });

  it("are given for every token; the bytes of the tokens are the reply", async () => {
    const { message, logprobs } = await choice({ logprobs: true, top_logprobs: 20, seed: 4 });
    expect(logprobs?.content).toHaveLength(20);
    const bytes = logprobs?.content.flatMap((token) => token.bytes ?? []) ?? [];
    expect(Buffer.from(bytes).toString("utf8")).toBe(message.content);
    for (const { logprob, top_logprobs } of logprobs?.content ?? []) {
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top_logprobs).toHaveLength(20);
      const tops = top_logprobs.map((top) => top.logprob);
      expect(tops).toEqual(tops.toSorted((a, b) => b - a));
      expect(logprob).toBeLessThanOrEqual((tops[0] ?? 0) + 1e-6);
      expect(tops.reduce((sum, top) => sum + Math.exp(top), 0)).toBeLessThanOrEqual(1.000_01);
    }
  });

  it("at temperature 0 have the chosen token first, and no others if none are requested", async () => {
    const greedy = await choice({ logprobs: true, top_logprobs: 1, temperature: 0 });
    for (const { token, logprob, top_logprobs } of greedy.logprobs?.content ?? []) {
      expect(top_logprobs.map((top) => [top.token, top.logprob])).toEqual([[token, logprob]]);
    }
    const plain = await choice({ logprobs: true, temperature: 0 });
    expect(plain.logprobs?.content.every(({ top_logprobs }) => top_logprobs.length === 0)).toBe(true);
  });

  it("are the model's own: temperature, penalties, biases and grammars do not change them", async () => {
    const first = async (body: object) =>
      (await choice({ logprobs: true, top_logprobs: 5, max_tokens: 1, ...body })).logprobs?.content[0]
        ?.top_logprobs;
    const plain = about(await first({ temperature: 0 }));
    expect(plain).toHaveLength(5);
    expect(await first({ temperature: 2, seed: 1 })).toEqual(plain);
    expect(await first({ repeat_penalty: 1.5, presence_penalty: 2 })).toEqual(plain);
    expect(await first({ logit_bias: { "5": 100 } })).toEqual(plain);
    expect(await first({ grammar: 'root ::= "{" [a-z]+' })).toEqual(plain);
  });

  it("are the same streamed as in one piece, also around a stop string", async () => {
    const text = (await choice({ temperature: 0 })).message.content ?? "";
    for (const stop of [[], [text.slice(20, 24)]]) {
      const body = { logprobs: true, top_logprobs: 2, temperature: 0, stop };
      const whole = await choice(body);
      const raw = await (await server.post({ ...asked, stream: true, ...body })).text();
      const told = raw
        .split("\n\n")
        .filter((event) => event.startsWith("data: {"))
        .flatMap(
          (event) =>
            ChatCompletionChunk.parse(JSON.parse(event.slice(6))).choices[0]?.logprobs?.content ?? [],
        );
      expect(told).toEqual(
        whole.logprobs?.content.map((token) => ({
          ...about([token])[0],
          top_logprobs: about(token.top_logprobs),
        })),
      );
    }
  });
});
