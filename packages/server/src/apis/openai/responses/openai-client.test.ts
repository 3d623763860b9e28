// The contract of /v1/responses with the client that most programs use, on a scripted model that calls and thinks when the
// test says so.
import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  scriptedId,
  scriptedServer,
  type ScriptedOptions,
} from "../../../../test/harness/scripted-server.ts";

type Script = NonNullable<ScriptedOptions["script"]>;

const request = { model: scriptedId, input: "What is the weather in Rome?" };
const pieces = ["Sun", "ny", "."];
const weather = zodResponsesFunction({ name: "weather", parameters: z.object({ city: z.string() }) });

/** Thinks, then calls, in an own syntax: thoughts, `|`, arguments. */
const calling: Script = {
  pieces: ["Rome?", "|", '{"city":', '"Rome"}'],
  reply: (text) => {
    const [reasoning = "", ...calls] = text.split("|");
    return {
      reasoning,
      content: "",
      calls: calls.map((call) => ({ id: "", name: "weather", arguments: call })),
    };
  },
};

function makeClient(scripted: { server: { url: string } }): OpenAI {
  return new OpenAI({ baseURL: `${scripted.server.url}/v1`, apiKey: "any-placeholder", maxRetries: 0 });
}

describe("the openai client", () => {
  it("gets a response in one piece", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const response = await makeClient(scripted).responses.create({ ...request, instructions: "Be brief." });
    expect(response.output_text).toBe("Sunny.");
    expect(response).toMatchObject({ status: "completed", instructions: "Be brief.", store: true });
    expect(response.usage?.total_tokens).toBe((response.usage?.input_tokens ?? 0) + 3);
  });

  it("gets the same response as a stream, with its own helper", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const stream = makeClient(scripted).responses.stream(request);
    const snapshots: string[] = [];
    stream.on("response.output_text.delta", ({ snapshot }) => snapshots.push(snapshot));
    const response = await stream.finalResponse();
    expect(snapshots.at(-1)).toBe("Sunny.");
    expect(response).toMatchObject({ status: "completed", output_text: "Sunny." });
  });

  it("counts the prompt's tokens of a request, with what it continues", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const { responses } = makeClient(scripted);
    const counted = await responses.inputTokens.count(request);
    const response = await responses.create(request);
    expect(counted).toEqual({ object: "response.input_tokens", input_tokens: response.usage?.input_tokens });
    const next = { ...request, previous_response_id: response.id };
    const longer = await responses.inputTokens.count(next);
    expect(longer.input_tokens).toBe((await responses.create(next)).usage?.input_tokens);
    expect(longer.input_tokens).toBeGreaterThan(counted.input_tokens);
    expect(scripted.log.requests).toHaveLength(2);
  });

  it("says when a response is incomplete", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const openai = makeClient(scripted);
    const cut = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    const body = { ...request, max_output_tokens: 2 };
    expect(await openai.responses.create(body)).toMatchObject({ ...cut, output_text: "Sunny" });
    expect(await openai.responses.stream(body).finalResponse()).toMatchObject({
      ...cut,
      output_text: "Sunny",
    });
  });

  it("gets thoughts and a call with parsed arguments, and sends both back with what the call gave", async () => {
    await using scripted = await scriptedServer({ script: calling });
    const openai = makeClient(scripted);
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: request.input }];
    const response = await openai.responses.parse({ ...request, input, tools: [weather] });
    const [thought, call] = response.output;
    expect(thought).toMatchObject({
      type: "reasoning",
      content: [{ type: "reasoning_text", text: "Rome?" }],
    });
    if (call?.type !== "function_call") throw new Error("no call");
    expect(call).toMatchObject({ name: "weather", status: "completed", parsed_arguments: { city: "Rome" } });

    const output = { type: "function_call_output" as const, call_id: call.call_id, output: "Sunny." };
    const items = toResponseInputItems(response.output);
    await openai.responses.create({ ...request, input: [...input, ...items, output], tools: [weather] });
    expect(scripted.log.chats[1]?.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", reasoning: "Rome?", toolCalls: [{ id: call.call_id, arguments: call.arguments }] },
      { role: "tool", content: "Sunny.", toolCallId: call.call_id, name: "weather" },
    ]);
  });

  it("accumulates a streamed call with its own helper", async () => {
    await using scripted = await scriptedServer({ script: calling });
    const stream = makeClient(scripted).responses.stream({ ...request, tools: [weather] });
    const snapshots: string[] = [];
    stream.on("response.function_call_arguments.delta", ({ snapshot }) => snapshots.push(snapshot));
    const { output } = await stream.finalResponse();
    expect(snapshots.at(-1)).toBe('{"city":"Rome"}');
    expect(output).toMatchObject([
      { type: "reasoning", content: [{ text: "Rome?" }] },
      { type: "function_call", name: "weather", parsed_arguments: { city: "Rome" } },
    ]);
  });

  it("parses a text of a schema", async () => {
    await using scripted = await scriptedServer({ script: { pieces: ['{"sky":', '"blue"}'] } });
    const format = zodTextFormat(z.object({ sky: z.string() }), "weather");
    const openai = makeClient(scripted);
    const body = { ...request, text: { format } };
    expect((await openai.responses.parse(body)).output_parsed).toEqual({ sky: "blue" });
    expect((await openai.responses.stream(body).finalResponse()).output_parsed).toEqual({ sky: "blue" });
  });

  it("passes fields of ours through the body", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const body = { ...request, top_k: 7, repeat_penalty: 1.2 };
    await makeClient(scripted).responses.create(body);
    expect(scripted.log.requests[0]?.sampling).toMatchObject({ topK: 7, repeatPenalty: 1.2 });
  });

  it("raises its own error classes", async () => {
    await using scripted = await scriptedServer();
    const { responses } = makeClient(scripted);
    await expect(responses.create({ ...request, temperature: -1 })).rejects.toMatchObject({
      constructor: OpenAI.BadRequestError,
      code: "invalid_request",
      param: "temperature",
    });
    await expect(responses.create({ ...request, previous_response_id: "resp_1" })).rejects.toMatchObject({
      constructor: OpenAI.BadRequestError,
      param: "previous_response_id",
    });
    await expect(
      responses.create({
        ...request,
        tools: [{ type: "web_search" }],
        tool_choice: { type: "web_search_preview" },
      }),
    ).rejects.toMatchObject({
      constructor: OpenAI.BadRequestError,
      message: expect.stringContaining("tool_choice"),
    });
    await expect(responses.create({ ...request, model: "other" })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    await expect(responses.stream({ ...request, top_p: 1.5 }).finalResponse()).rejects.toBeInstanceOf(
      OpenAI.BadRequestError,
    );
  });

  it("raises an error for a stream that is cut, read as events or by its helper", async () => {
    const failure = { code: "engine_failed" as const, message: "The device is gone." };
    await using scripted = await scriptedServer({ script: { pieces, failure } });
    const openai = makeClient(scripted);
    const cut = { constructor: OpenAI.APIError, code: "engine_failed" };
    const types: string[] = [];
    const read = async (): Promise<void> => {
      for await (const event of await openai.responses.create({ ...request, stream: true }))
        types.push(event.type);
    };
    await expect(read()).rejects.toMatchObject(cut);
    expect(types.at(-1)).toBe("response.failed");
    await expect(openai.responses.stream(request).finalResponse()).rejects.toMatchObject(cut);
  });
});
