// Our own client and the real server with tiny models: what it assembles, reads and runs.
import { createServer, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { ChatStream, Ingle, outputText, ResponseStream, runTools, tool } from "@ingle/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { modelId, realServer, user, type RealServer } from "./real-server.ts";

describe("the client", () => {
  let server: RealServer;
  let ingle: Ingle;
  beforeAll(async () => {
    server = await realServer({
      fixture: { vocabulary: "qwen2" },
      load: { contextLength: 2048, parallel: 4 },
    });
    ingle = new Ingle({ baseUrl: server.baseUrl, maxRetries: 0 });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const request = { model: modelId, messages: user("Tell me about rivers."), seed: 3, max_tokens: 24 };

  it("reads the server's state and its models", async () => {
    expect(await ingle.server.livez()).toEqual({ status: "ok" });
    const ready = { status: "ok", model: modelId, isReady: true };
    expect(await ingle.server.readyz()).toEqual(ready);
    expect(await ingle.server.health()).toEqual(ready);
    expect((await ingle.models.retrieve(modelId)).context_length).toBe(2048);
    await expect(ingle.models.retrieve("nobody")).rejects.toMatchObject({ code: "model_not_found" });
  });

  it("assembles a stream to what the server returns in one piece", async () => {
    for (const extra of [{}, { n: 3 }, { logprobs: true, top_logprobs: 2 }, { stop: "e" }]) {
      const body = { ...request, ...extra, cache_prompt: false };
      const whole = await ingle.chat.completions.create(body);
      const streamed = await (await ingle.chat.completions.stream(body)).finalCompletion();
      expect(streamed.choices).toEqual(whole.choices);
      expect(streamed.usage).toEqual(whole.usage);
      expect(Object.keys(streamed.timings ?? {})).toEqual(Object.keys(whole.timings));
      expect(streamed).toMatchObject({
        object: whole.object,
        model: whole.model,
        system_fingerprint: whole.system_fingerprint,
      });
    }
  });

  it("assembles a streamed completion to what the server returns in one piece", async () => {
    const text = { model: modelId, prompt: ["Rivers are", "Hills are"], seed: 3, max_tokens: 12 };
    // Only one prompt: next to another one, the last digits of probabilities may differ.
    for (const extra of [{}, { n: 2 }, { prompt: "Rivers are", logprobs: 2 }, { echo: true }]) {
      const body = { ...text, ...extra, cache_prompt: false };
      const whole = await ingle.completions.create(body);
      const streamed = await (await ingle.completions.stream(body)).finalCompletion();
      expect(streamed.choices).toEqual(whole.choices);
      expect(streamed.usage).toEqual(whole.usage);
    }
  });

  it("assembles the events of a response to what the server returns in one piece", async () => {
    const body = { model: modelId, input: "Rivers?", seed: 3, max_output_tokens: 12, cache_prompt: false };
    const whole = await ingle.responses.create(body);
    const stream = await ingle.responses.stream(body);
    const again = ResponseStream.fromReadableStream(stream.toReadableStream());
    const streamed = await again.finalResponse();
    expect(streamed).toMatchObject({ status: "incomplete", usage: whole.usage });
    expect(outputText(streamed)).toBe(outputText(whole));
    expect(await again.finalText()).toBe(outputText(whole));
    expect(await stream.finalResponse()).toEqual(streamed);
  });

  it("returns the same vectors as floats and as numbers", async () => {
    const body = { model: modelId, input: ["Rivers are long.", "Hills"] };
    const floats = (await ingle.embeddings.create(body)).data.map(({ embedding }) => embedding);
    const numbers = await ingle.embeddings.create({ ...body, encoding_format: "float" });
    expect(floats.map((vector) => [...vector])).toEqual(
      numbers.data.map(({ embedding }) => [...Float32Array.from(embedding)]),
    );
    expect(floats[0]?.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 4);
  });

  it("tokenizes a text and back", async () => {
    const { tokens, count } = await ingle.tokenize({ model: modelId, content: "Rivers are long." });
    expect(tokens).toHaveLength(count);
    expect((await ingle.detokenize({ model: modelId, tokens })).content).toContain("Rivers are long.");
    const chat = await ingle.tokenize({ messages: user("Rivers"), with_pieces: true });
    expect(chat.tokens.map(({ piece }) => piece)).toContain("user");
  });

  it("passes a stream through, byte by byte as the server sends it", async () => {
    const stream = await ingle.chat.completions.stream(request);
    const again = ChatStream.fromReadableStream(stream.toReadableStream());
    expect(await again.finalCompletion()).toEqual(await stream.finalCompletion());
  });

  it("stops the server when the bytes that it passes through are cancelled", async () => {
    const stream = await ingle.chat.completions.stream({ ...request, max_tokens: 1900 });
    const reader = stream.toReadableStream().getReader();
    await reader.read();
    await reader.cancel();
    await expect.poll(() => server.model.stats().running, { timeout: 5_000 }).toBe(0);
  });

  it("stops the server when the page behind a Node backend disconnects", async () => {
    let passedOn: Promise<void> | undefined;
    const backend = createServer((_request, response) => {
      passedOn = passOn(response);
    });
    const passOn = async (response: ServerResponse): Promise<void> => {
      const stream = await ingle.chat.completions.stream({ ...request, max_tokens: 1900 });
      await pipeline(stream.toReadableStream(), response);
    };
    await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
    const address = backend.address();
    if (address === null || typeof address === "string") throw new Error("the backend has no port");
    const page = new AbortController();
    const { body } = await fetch(`http://127.0.0.1:${address.port}/`, { signal: page.signal });
    await body?.getReader().read();
    page.abort();
    await expect(passedOn).rejects.toMatchObject({ code: "ERR_STREAM_PREMATURE_CLOSE" });
    await expect.poll(() => server.model.stats().running, { timeout: 5_000 }).toBe(0);
    backend.closeAllConnections();
    await new Promise((resolve) => backend.close(resolve));
  });

  const Person = z.object({
    name: z.string().max(12),
    age: z.int().min(0).max(130),
    tags: z.array(z.enum(["red", "größe", '"quoted"'])).max(3),
    born: z.iso.date(),
    at: z.iso.time({ precision: 0 }).transform((text) => text.slice(0, 2)),
    id: z.uuid(),
    partner: z.strictObject({ name: z.string().max(3).nullable() }).optional(),
    kind: z.discriminatedUnion("type", [
      z.object({ type: z.literal("one"), one: z.boolean() }),
      z.object({ type: z.literal("two"), two: z.tuple([z.boolean(), z.literal(5)]) }),
    ]),
  });

  it("returns a value of a zod schema, whatever the model would write", async () => {
    for (const seed of [1, 2, 3]) {
      const { value } = await ingle.chat.completions.parse({ ...request, seed, max_tokens: 1000 }, Person);
      expect(value.at).toMatch(/^\d{2}$/);
    }
  });

  it("reports a value that was cut, with its text", async () => {
    const cut = ingle.chat.completions.parse({ ...request, max_tokens: 4 }, Person);
    await expect(cut).rejects.toMatchObject({ code: "reply_cut", text: expect.stringMatching(/^\{/) });
  });

  it("runs tools that the model calls", async () => {
    const asked: string[] = [];
    const weather = tool({
      name: "get_weather",
      description: "The weather of a city",
      parameters: z.object({ city: z.enum(["Rome", "Oslo"]) }),
      run: ({ city }) => {
        asked.push(city);
        return { sky: "clear" };
      },
    });
    const body = {
      ...request,
      tool_choice: "required" as const,
      parallel_tool_calls: false,
      max_tokens: 400,
    };
    const { messages, completion } = await runTools(ingle.chat.completions, body, [weather]);
    expect(asked.length).toBeGreaterThan(0);
    expect(messages.slice(0, 3).map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(messages[2]?.content).toBe('{"sky":"clear"}');
    expect(completion.choices[0].message.tool_calls).toBeUndefined();
  });
});
