// The contract with Anthropic's own client: it must find everything where it looks for it.
import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import type { Script } from "@ingle/fixtures/scripted-addon";
import { AnthropicErrorBody, AnthropicMessage, MessageStreamEvent, TokenCount } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { scriptedId, scriptedServer } from "../../../test/harness/scripted-server.ts";

const pieces = ["Par", "is", "."];
const request = {
  model: scriptedId,
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "What is the capital of France?" }],
};

/** The newest types of the client do not know what its older models took. */
const greedy = { temperature: 0 };

const weather: Anthropic.Tool = {
  name: "get_weather",
  description: "The weather of a city",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

/** Thinks, then says something, then calls a tool: `<thoughts>|<text>|<arguments>`. */
const caller: Script = {
  pieces: ["Hm", "m.", "|Let me ", "look.", '|{"city":', '"Ro', 'me"}'],
  delayMs: 5,
  reply: (text) => {
    const [reasoning = "", content = "", json] = text.split("|");
    const calls = json === undefined ? [] : [{ id: "", name: "get_weather", arguments: json }];
    return { reasoning, content, calls };
  },
};

function makeClient(
  scripted: { server: { url: string } },
  key: object = { apiKey: "any-placeholder" },
): Anthropic {
  return new Anthropic({ baseURL: scripted.server.url, maxRetries: 0, ...key });
}

/** What a call was rejected with. */
async function rejection(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    return error;
  }
}

describe("Anthropic's client", () => {
  it("gets a message in one piece", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const message = await makeClient(scripted).messages.create({ ...request, ...greedy });
    expect(AnthropicMessage.parse(message)).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      model: scriptedId,
      content: [{ type: "text", text: "Paris." }],
      stop_reason: "end_turn",
      usage: { output_tokens: 3, cache_read_input_tokens: 0 },
    });
    expect(message.usage.input_tokens).toBeGreaterThan(3);
  });

  it("gets the same message as a stream, with its own helper and event by event", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const { messages } = makeClient(scripted);
    const whole = await messages.create(request);
    const runner = messages.stream(request);
    const texts: string[] = [];
    runner.on("text", (text) => texts.push(text));
    const { id, ...streamed } = AnthropicMessage.parse(await runner.finalMessage());
    expect(texts).toEqual(pieces);
    expect(streamed).toEqual({ ...AnthropicMessage.omit({ id: true }).parse(whole) });
    expect(id).not.toBe(whole.id);
    for await (const event of await messages.create({ ...request, stream: true }))
      expect(MessageStreamEvent.parse(event)).toEqual(event);
  });

  it("gets thoughts and calls, streamed as in one piece, and sends them back with results", async () => {
    await using scripted = await scriptedServer({ script: caller });
    const { messages } = makeClient(scripted);
    const asked = { ...request, tools: [weather], thinking: { type: "adaptive" as const } };
    const whole = await messages.create(asked);
    const { content, stop_reason } = AnthropicMessage.parse(whole);
    expect(stop_reason).toBe("tool_use");
    expect(content).toEqual([
      { type: "thinking", thinking: "Hmm.", signature: "" },
      { type: "text", text: "Let me look." },
      { type: "tool_use", id: expect.any(String), name: "get_weather", input: { city: "Rome" } },
    ]);

    const runner = messages.stream(asked);
    const fragments: string[] = [];
    runner.on("inputJson", (fragment) => fragments.push(fragment));
    const streamed = AnthropicMessage.parse(await runner.finalMessage());
    expect(streamed.content.slice(0, 2)).toEqual(content.slice(0, 2));
    expect(streamed.content[2]).toMatchObject({ type: "tool_use", input: { city: "Rome" } });
    expect(fragments.length).toBeGreaterThan(1);

    const [, , call] = whole.content;
    const result = {
      type: "tool_result" as const,
      tool_use_id: call?.type === "tool_use" ? call.id : "",
      content: "Sunny.",
    };
    await messages.create({
      ...asked,
      messages: [
        ...request.messages,
        { role: "assistant", content: whole.content },
        { role: "user", content: [result] },
      ],
    });
    expect(scripted.log.chats.at(-1)?.messages.slice(1)).toMatchObject([
      {
        role: "assistant",
        content: "Let me look.",
        reasoning: "Hmm.",
        toolCalls: [{ arguments: '{"city":"Rome"}' }],
      },
      { role: "tool", content: "Sunny.", name: "get_weather" },
    ]);
  });

  it("gets a value of a zod schema", async () => {
    await using scripted = await scriptedServer({ script: { pieces: ['{"city"', ':"Paris"}'] } });
    const format = zodOutputFormat(z.object({ city: z.string() }));
    const parsed = await makeClient(scripted).messages.parse({ ...request, output_config: { format } });
    expect(parsed.parsed_output).toEqual({ city: "Paris" });
    expect(scripted.log.chats[0]?.contentRules).not.toBe("");
  });

  it("is told which of its stop sequences came", async () => {
    await using scripted = await scriptedServer({ script: { pieces, stop: "END" } });
    const message = await makeClient(scripted).messages.create({
      ...request,
      stop_sequences: ["STOP", "END"],
    });
    expect(message).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: "END" });
  });

  it("counts tokens, as many as the message then has, and nothing is computed", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const { max_tokens, ...counted } = { ...request, system: "Be brief." };
    const { messages } = makeClient(scripted);
    const count = await messages.countTokens(counted);
    expect(TokenCount.parse(count)).toEqual(count);
    expect(scripted.log.requests).toEqual([]);
    const { usage } = await messages.create({ ...counted, max_tokens });
    expect(count.input_tokens).toBe(usage.input_tokens);
  });

  it("is let in by its key, in either header", async () => {
    await using scripted = await scriptedServer({ script: { pieces }, flags: { apiKey: ["right"] } });
    for (const key of [{ apiKey: "right" }, { authToken: "right" }])
      expect((await makeClient(scripted, key).messages.create(request)).content).toHaveLength(1);
    await expect(makeClient(scripted).messages.create(request)).rejects.toBeInstanceOf(
      Anthropic.AuthenticationError,
    );
  });

  it("cancels the work when its stream is aborted", async () => {
    const many = Array.from({ length: 1000 }, () => "x");
    await using scripted = await scriptedServer({ script: { pieces: many, delayMs: 5 } });
    const runner = makeClient(scripted).messages.stream(request);
    runner.on("text", () => runner.abort());
    await expect(runner.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    await expect.poll(() => scripted.log.cancelled).toEqual([1]);
  });

  it("cancels the work when its request is aborted", async () => {
    const many = Array.from({ length: 1000 }, () => "x");
    await using scripted = await scriptedServer({ script: { pieces: many, delayMs: 5 } });
    const leaving = new AbortController();
    const pending = rejection(makeClient(scripted).messages.create(request, { signal: leaving.signal }));
    await expect.poll(() => scripted.log.running.size).toBe(1);
    leaving.abort();
    expect(await pending).toBeInstanceOf(Anthropic.APIUserAbortError);
    await expect.poll(() => scripted.log.cancelled).toEqual([1]);
  });
});

describe("a thread of Anthropic's client, which the server does not keep", () => {
  const { model, max_tokens } = request;

  it("is refused before anything of its history is lost", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const thread = makeClient(scripted).beta.messages.thread({ model, max_tokens });
    const error = await rejection(thread.send({ role: "user", content: "Hello" }));
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error).toMatchObject({
      name: "ThreadUnsupportedRequestError",
      error: { error: { param: "thread", message: expect.stringContaining("the whole conversation") } },
    });
    expect(scripted.log.requests).toEqual([]);
  });

  it("may go on without one: then each request has the whole conversation", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const thread = makeClient(scripted).beta.messages.thread({
      model,
      max_tokens,
      unsupportedRequestBehavior: "continue_unthreaded",
    });
    await thread.send({ role: "user", content: "Hello" });
    await thread.send({ role: "user", content: "And now?" });
    expect(scripted.log.prompts.at(-1)).toBe("user: Hello\nassistant: Paris.\nuser: And now?");
  });
});

describe("Anthropic's client raises its own errors", () => {
  it.each([
    [{ temperature: -1 }, Anthropic.BadRequestError, { type: "invalid_request_error", param: "temperature" }],
    [{ model: "other" }, Anthropic.NotFoundError, { type: "not_found_error", code: "model_not_found" }],
    [
      {
        messages: [{ role: "user" as const, content: [{ type: "container_upload" as const, file_id: "f" }] }],
      },
      Anthropic.BadRequestError,
      { message: expect.stringContaining("container_upload") },
    ],
    [
      { system: "x".repeat(10_000) },
      Anthropic.APIError,
      { type: "request_too_large", code: "payload_too_large" },
    ],
  ])("for %j", async (body, errorClass, expected) => {
    await using scripted = await scriptedServer({ flags: { bodyBytesMax: 4096 } });
    const error = await rejection(makeClient(scripted).messages.create({ ...request, ...body }));
    if (!(error instanceof Anthropic.APIError)) throw error;
    expect(error).toBeInstanceOf(errorClass);
    const { request_id, error: told } = AnthropicErrorBody.parse(error.error);
    expect(told).toMatchObject(expected);
    expect([error.requestID, error.type]).toEqual([request_id, told.type]);
  });

  it("for a failure before the first piece and one after it", async () => {
    const failure = { code: "engine_failed" as const, message: "The device is gone." };
    for (const said of [[], pieces]) {
      await using scripted = await scriptedServer({ script: { pieces: said, failure } });
      const error = await rejection(makeClient(scripted).messages.stream(request).finalMessage());
      if (!(error instanceof Anthropic.APIError)) throw error;
      expect([error.status, error.type]).toEqual([said.length === 0 ? 500 : undefined, "api_error"]);
      expect(AnthropicErrorBody.parse(error.error).error.code).toBe("engine_failed");
    }
  });

  it("tries again after a 429, by itself", async () => {
    await using scripted = await scriptedServer({
      script: { pieces, delayMs: 100, parallel: 1 },
      flags: { waitingMax: 0 },
    });
    const { messages } = new Anthropic({ baseURL: scripted.server.url, apiKey: "any" });
    const both = await Promise.all([messages.create(request), messages.create(request)]);
    expect(both.map(({ content }) => content)).toEqual([
      [{ type: "text", text: "Paris." }],
      [{ type: "text", text: "Paris." }],
    ]);
  });
});
