// The contract with the client that most programs use: it must find everything where it looks for it.
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { scriptedId, scriptedServer } from "../../../test/harness/scripted-server.ts";

const pieces = ["Par", "is", "."];
const messages = [{ role: "user" as const, content: "What is the capital of France?" }];
const request = { model: scriptedId, messages };

function makeClient(scripted: { server: { url: string } }, apiKey = "any-placeholder"): OpenAI {
  return new OpenAI({ baseURL: `${scripted.server.url}/v1`, apiKey, maxRetries: 0 });
}

describe("the openai client", () => {
  it("lists the models and retrieves one", async () => {
    await using scripted = await scriptedServer();
    const openai = makeClient(scripted);
    const ids: string[] = [];
    for await (const model of openai.models.list()) ids.push(model.id);
    expect(ids).toEqual([scriptedId]);
    expect(await openai.models.retrieve(scriptedId)).toMatchObject({ id: scriptedId, owned_by: "local" });
  });

  it("gets an answer in one piece", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const completion = await makeClient(scripted).chat.completions.create({ ...request, temperature: 0 });
    expect(completion.choices[0]?.message).toEqual({ role: "assistant", content: "Paris." });
    expect(completion.usage?.total_tokens).toBeGreaterThan(3);
  });

  it("gets the same text as a stream, and its usage", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const stream = await makeClient(scripted).chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe("Paris.");
    expect(usage?.completion_tokens).toBe(3);
  });

  it("completes a text, in one piece and as a stream", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const { completions } = makeClient(scripted);
    const prompt = "The capital of France is ";
    const whole = await completions.create({ model: scriptedId, prompt, echo: true, max_tokens: 8 });
    expect(whole.choices).toEqual([
      { index: 0, text: `${prompt}Paris.`, finish_reason: "stop", logprobs: null },
    ]);
    expect(whole.usage?.completion_tokens).toBe(3);
    const stream = await completions.create({
      model: scriptedId,
      prompt: [prompt, prompt],
      stream: true,
      stream_options: { include_usage: true },
    });
    const texts = ["", ""];
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      for (const { index, text } of chunk.choices) texts[index] += text;
      usage = chunk.usage ?? usage;
    }
    expect(texts).toEqual(["Paris.", "Paris."]);
    expect(usage?.completion_tokens).toBe(6);
  });

  it("accumulates the chunks with its own helper", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const runner = makeClient(scripted).chat.completions.stream(request);
    expect(await runner.finalContent()).toBe("Paris.");
    expect((await runner.finalChatCompletion()).choices[0]?.finish_reason).toBe("stop");
  });

  it("passes fields of ours through the body", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const body = { ...request, top_k: 7, repeat_penalty: 1.2 };
    await makeClient(scripted).chat.completions.create(body);
    expect(scripted.log.requests[0]?.sampling).toMatchObject({ topK: 7, repeatPenalty: 1.2 });
  });

  it("raises its own error classes", async () => {
    await using scripted = await scriptedServer({ flags: { apiKey: ["right"] } });
    const right = makeClient(scripted, "right").chat.completions;
    await expect(right.create({ ...request, temperature: -1 })).rejects.toMatchObject({
      constructor: OpenAI.BadRequestError,
      code: "invalid_request",
      param: "temperature",
      type: "invalid_request_error",
      requestID: expect.any(String),
    });
    await expect(right.create({ ...request, model: "other" })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const wrong = makeClient(scripted, "wrong").chat.completions;
    await expect(wrong.create(request)).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });

  it("raises an error for a stream that is cut", async () => {
    const failure = { code: "engine_failed" as const, message: "The device is gone." };
    await using scripted = await scriptedServer({ script: { pieces, failure } });
    const stream = await makeClient(scripted).chat.completions.create({ ...request, stream: true });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.choices).toHaveLength(1);
    };
    await expect(read()).rejects.toMatchObject({ constructor: OpenAI.APIError, code: "engine_failed" });
  });

  it("tries again after a 429, by itself", async () => {
    await using scripted = await scriptedServer({
      script: { pieces, delayMs: 100, parallel: 1 },
      flags: { waitingMax: 0 },
    });
    const openai = new OpenAI({ baseURL: `${scripted.server.url}/v1`, apiKey: "any" });
    const both = await Promise.all([
      openai.chat.completions.create(request),
      openai.chat.completions.create(request),
    ]);
    expect(both.map((each) => each.choices[0]?.message.content)).toEqual(["Paris.", "Paris."]);
  });

  it("cancels the work when its stream is aborted", async () => {
    const many = Array.from({ length: 1000 }, () => "x");
    await using scripted = await scriptedServer({ script: { pieces: many, delayMs: 5 } });
    const stream = await makeClient(scripted).chat.completions.create({ ...request, stream: true });
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content === "x") break;
    }
    await expect.poll(() => scripted.log.cancelled).toEqual([1]);
  });
});
