// The whole way: socket, HTTP, engine, addon, a real (tiny) model, and third-party clients.
import { Ingle } from "@ingle/client";
import { ChatCompletion, ChatCompletionChunk, ErrorBody } from "@ingle/protocol";
import OpenAI from "openai";
import { until } from "@ingle/fixtures";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

interface Completion {
  choices: { message: { content: string }; finish_reason: string }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

describe("chat completions end to end", () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await realServer({ load: { contextLength: 1024, parallel: 8 } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function complete(body: object): Promise<Completion> {
    const response = await server.post(body);
    expect(response.status).toBe(200);
    const json: unknown = await response.json();
    ChatCompletion.parse(json);
    return json as Completion;
  }

  async function text(body: object): Promise<string> {
    return (await complete(body)).choices[0]?.message.content ?? "";
  }

  /** The stream's raw lines, each checked against the wire schema. */
  async function stream(body: object): Promise<{ content: string; last: string; finish: string | null }> {
    const response = await server.post({ stream: true, ...body });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const raw = await response.text();
    const events = raw.split("\n\n").filter((event) => event.startsWith("data: "));
    const last = events.at(-1) ?? "";
    let content = "";
    let finish: string | null = null;
    for (const event of events.slice(0, -1)) {
      const chunk = ChatCompletionChunk.parse(JSON.parse(event.slice(6)));
      content += chunk.choices[0]?.delta.content ?? "";
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    return { content, last, finish };
  }

  const idle = (): boolean => server.model.stats().running + server.model.stats().waiting === 0;

  it("streams the same text as without streaming, ends in [DONE], and is deterministic at temperature 0", async () => {
    const body = { messages: user("Tell me about rivers."), temperature: 0, max_tokens: 60 };
    const streamed = await stream(body);
    expect(streamed.last).toBe("data: [DONE]");
    expect(streamed.finish).toBe("length");
    expect(streamed.content).toBe(await text(body));
    expect(await text(body)).toBe(streamed.content);
  });

  it("is deterministic with a seed", async () => {
    const body = { messages: user("A story"), temperature: 1, seed: 42, max_tokens: 30 };
    const first = await text(body);
    expect(await text(body)).toBe(first);
    expect(await text({ ...body, seed: 43 })).not.toBe(first);
  });

  it("answers eight parallel requests as it answers the same eight one by one", async () => {
    const bodies = Array.from({ length: 8 }, (_, index) => ({
      messages: user(`Question ${index}: ${"why ".repeat(index + 1)}`),
      temperature: 0,
      max_tokens: 40,
    }));
    const alone: string[] = [];
    for (const body of bodies) alone.push(await text(body));
    expect(await Promise.all(bodies.map(text))).toEqual(alone);
    const streamed = await Promise.all(bodies.map(async (body) => (await stream(body)).content));
    expect(streamed).toEqual(alone);
  });

  it("counts tokens in usage", async () => {
    const { usage, choices } = await complete({ messages: user("Count"), max_tokens: 7 });
    expect(usage.completion_tokens).toBe(7);
    expect(usage.total_tokens).toBe(usage.prompt_tokens + 7);
    expect(choices[0]?.finish_reason).toBe("length");
  });

  it("never shows a part of a stop string, streamed or not", async () => {
    const body = { messages: user("The lantern"), temperature: 0, max_tokens: 60 };
    const whole = await text(body);
    for (const start of [5, 17, 42]) {
      const stop = whole.slice(start, start + 5);
      const expected = whole.slice(0, whole.indexOf(stop));
      expect(await text({ ...body, stop })).toBe(expected);
      const streamed = await stream({ ...body, stop: [stop, "☃☃"] });
      expect(streamed.content).toBe(expected);
      expect(streamed.finish).toBe("stop");
    }
  });

  it("never splits an emoji or a Chinese character between chunks", async () => {
    await using spelling = await realServer({ fixture: { bytes: "characters" } });
    const response = await spelling.post({ messages: user("spell"), seed: 1, max_tokens: 300, stream: true });
    let content = "";
    for (const event of (await response.text()).split("\n\n")) {
      if (!event.startsWith("data: {")) continue;
      const delta = ChatCompletionChunk.parse(JSON.parse(event.slice(6))).choices[0]?.delta.content ?? "";
      expect(delta).not.toMatch(/\p{Surrogate}/u);
      content += delta;
    }
    expect(content).toMatch(/\p{Emoji_Presentation}|\p{Script=Han}/u);
    expect(content.slice(0, -1)).not.toContain("\uFFFD");
  });

  it("answers a prompt that is too long with 400 and the numbers, streamed or not", async () => {
    for (const isStreamed of [false, true]) {
      const response = await server.post({ messages: user("word ".repeat(2000)), stream: isStreamed });
      expect(response.status).toBe(400);
      const { error } = ErrorBody.parse(await response.json());
      expect(error).toMatchObject({
        code: "context_length_exceeded",
        type: "invalid_request_error",
        n_ctx: 1024,
      });
      expect(error.n_prompt_tokens).toBeGreaterThan(2000);
    }
  });

  it("frees the sequence of a client that disconnects: while waiting, in prefill, while decoding", async () => {
    await using small = await realServer({
      load: { contextLength: 2048, parallel: 1, batchTokens: 16 },
    });
    const { model } = small;
    const decoding = new AbortController();
    const response = await small.post(
      { messages: user("on"), stream: true, max_tokens: 1900 },
      decoding.signal,
    );
    const reader = response.body?.getReader();
    await reader?.read();

    const inLine = new AbortController();
    const waiting = small.post({ messages: user("wait"), stream: true }, inLine.signal);
    await until(() => model.stats().waiting === 1);
    inLine.abort();
    await expect(waiting).rejects.toThrow(/abort/i);
    await until(() => model.stats().waiting === 0);
    expect(model.stats().running).toBe(1);

    decoding.abort();
    await until(() => model.stats().running === 0);

    const inPrefill = new AbortController();
    const prefilling = small.post({ messages: user("word ".repeat(1800)) }, inPrefill.signal);
    await until(() => model.stats().running === 1);
    inPrefill.abort();
    await expect(prefilling).rejects.toThrow(/abort/i);
    await until(() => model.stats().running === 0);
    expect(model.stats().cellsUsed).toBe(0);
  });

  it("continues after a hundred clients that disconnected at random moments", async () => {
    await Promise.allSettled(
      Array.from({ length: 100 }, async (_, index) => {
        const signal = AbortSignal.timeout((index * 29) % 200);
        const response = await server.post(
          { messages: user(`storm ${index}`), stream: index % 2 === 0, max_tokens: 50 },
          signal,
        );
        await response.text();
      }),
    );
    await until(idle);
    expect(server.model.stats().cellsUsed).toBe(0);
    expect(await text({ messages: user("still here"), max_tokens: 3 })).not.toBe("");
  });

  it("works with the official openai client", async () => {
    const openai = new OpenAI({ baseURL: server.baseUrl, apiKey: "anything", maxRetries: 0 });
    const models = await openai.models.list();
    expect(models.data.map((model) => model.id)).toEqual([modelId]);
    const request = { model: modelId, messages: user("Hello"), temperature: 0, max_tokens: 20 };
    const whole = await openai.chat.completions.create(request);
    let streamed = "";
    let usage: OpenAI.CompletionUsage | null | undefined;
    const chunks = await openai.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of chunks) {
      streamed += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    expect(streamed).toBe(whole.choices[0]?.message.content);
    expect(usage).toMatchObject({ completion_tokens: 20 });
    await expect(openai.chat.completions.create({ ...request, model: "nobody" })).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
    });
    await expect(openai.chat.completions.create({ ...request, temperature: -1 })).rejects.toMatchObject({
      status: 400,
      param: "temperature",
    });
  });

  it("works with our own client", async () => {
    const ingle = new Ingle({ baseUrl: server.baseUrl });
    expect((await ingle.models.list()).data[0]?.id).toBe(modelId);
    const request = { model: modelId, messages: user("Hello"), temperature: 0, max_tokens: 20 };
    const whole = await ingle.chat.completions.create(request);
    let streamed = "";
    for await (const chunk of await ingle.chat.completions.create({ ...request, stream: true })) {
      streamed += chunk.choices[0]?.delta.content ?? "";
    }
    expect(streamed).toBe(whole.choices[0]?.message.content);
    for await (const chunk of await ingle.chat.completions.create({
      ...request,
      max_tokens: 900,
      stream: true,
    })) {
      expect(chunk.object).toBe("chat.completion.chunk");
      break; // leaving the loop cancels the request
    }
    await until(idle);
  });
});
