// /v1/responses with the official openai client and a tiny model: every response and event matches its schema, a stream says the
// same as the response in one piece, and formats and calls work with random weights.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { ResponseObject, ResponsesEvent } from "@ingle/protocol";
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { modelId, realServer, type RealServer } from "./real-server.ts";

const templates = path.join(import.meta.dirname, "../../../vendor/llama.cpp/source/models/templates");

const weather: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "get_weather",
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { enum: ["Rome", "Oslo"] } }, required: ["city"] },
  strict: true,
};
const question = { role: "user" as const, content: "What is the weather in Rome?" };

describe.each(["chatml", "Qwen-Qwen3-0.6B", "LFM2-8B-A1B"])(
  "/v1/responses with the template of %s",
  (template) => {
    let server: RealServer;
    let openai: OpenAI;
    beforeAll(async () => {
      const chatTemplate =
        template === "chatml" ? undefined : await readFile(path.join(templates, `${template}.jinja`), "utf8");
      const fixture = { vocabulary: "qwen2", ...(chatTemplate === undefined ? {} : { chatTemplate }) };
      server = await realServer({ fixture, load: { contextLength: 2048, parallel: 2 } });
      openai = new OpenAI({ baseURL: server.baseUrl, apiKey: "anything", maxRetries: 0 });
    });
    afterAll(() => server[Symbol.asyncDispose]());

    const request = { model: modelId, input: [question], temperature: 0.5, max_output_tokens: 40, seed: 1 };

    /** The whole response, and the last one of the stream; both match their schema, like every event. */
    async function createBoth(
      body: OpenAI.Responses.ResponseCreateParamsNonStreaming,
    ): Promise<{ whole: ResponseObject; streamed: ResponseObject; events: ResponsesEvent[] }> {
      // What the client adds to a response is not part of it.
      const { output_text: _added, ...response } = await openai.responses.create(body);
      const whole = ResponseObject.strict().parse(response);
      const events: ResponsesEvent[] = [];
      for await (const event of await openai.responses.create({ ...body, stream: true })) {
        events.push(ResponsesEvent.parse(event));
      }
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
      const last = events.at(-1);
      if (last === undefined || !("response" in last)) throw new Error("no response at the end");
      return { whole, streamed: last.response, events };
    }

    const readText = (response: ResponseObject): string =>
      response.output
        .flatMap((item) => (item.type === "message" ? item.content.map(({ text }) => text) : []))
        .join("");

    it("streams the same text as in one piece", async () => {
      const { whole, streamed, events } = await createBoth(request);
      expect(readText(whole)).not.toBe("");
      expect(readText(streamed)).toBe(readText(whole));
      expect(streamed.status).toBe(whole.status);
      expect(streamed.usage?.output_tokens).toBe(whole.usage?.output_tokens);
      const deltas = events.map((event) => (event.type === "response.output_text.delta" ? event.delta : ""));
      expect(deltas.join("")).toBe(readText(whole));
      const final = await openai.responses.stream(request).finalResponse();
      expect(final.output_text).toBe(readText(whole));
    });

    it("finds its earlier tokens in the cache", async () => {
      const input = [{ role: "user" as const, content: "Tell me a long story. ".repeat(20) }];
      await openai.responses.create({ ...request, input });
      const again = await openai.responses.create({ ...request, input });
      expect(again.usage?.input_tokens_details.cached_tokens).toBeGreaterThan(0);
    });

    it("returns the probability of each token of its text", async () => {
      const body = { ...request, top_logprobs: 2, include: ["message.output_text.logprobs" as const] };
      const { whole, streamed, events } = await createBoth(body);
      const of = ({ output: [item] }: ResponseObject) =>
        item?.type === "message" ? item.content[0]?.logprobs : [];
      expect(of(whole)?.length).toBe(whole.usage?.output_tokens);
      expect(of(whole)?.every(({ top_logprobs }) => top_logprobs.length === 2)).toBe(true);
      expect(of(streamed)?.length).toBe(of(whole)?.length);
      const told = events.flatMap((event) =>
        event.type === "response.output_text.delta" ? event.logprobs : [],
      );
      expect(told).toEqual(of(streamed));
    });

    it("writes JSON that matches a schema, which the client parses", async () => {
      const shape = z.object({ city: z.enum(["Rome", "Oslo"]), warm: z.boolean() });
      const body = { ...request, max_output_tokens: 200, text: { format: zodTextFormat(shape, "weather") } };
      const parsed = await openai.responses.parse(body);
      expect(shape.parse(parsed.output_parsed)).toEqual(parsed.output_parsed);
      expect((await openai.responses.stream(body).finalResponse()).output_parsed).toEqual(
        parsed.output_parsed,
      );
    });

    it("calls a function, the same streamed as in one piece, and accepts its result", async () => {
      const body = {
        ...request,
        tools: [weather],
        tool_choice: "required" as const,
        parallel_tool_calls: false,
        max_output_tokens: 400,
      };
      const { whole, streamed, events } = await createBoth(body);
      const findCall = ({ output }: ResponseObject) => output.find((item) => item.type === "function_call");
      const call = findCall(whole);
      if (call === undefined) throw new Error("no call");
      expect(call.name).toBe("get_weather");
      expect(["Rome", "Oslo"]).toContain(JSON.parse(call.arguments).city);
      expect(JSON.parse(findCall(streamed)?.arguments ?? "")).toEqual(JSON.parse(call.arguments));
      const deltas = events.map((event) =>
        event.type === "response.function_call_arguments.delta" ? event.delta : "",
      );
      expect(deltas.join("")).toBe(findCall(streamed)?.arguments);

      const response = await openai.responses.create({
        ...request,
        max_output_tokens: 5,
        tools: [weather],
        input: [question, call, { type: "function_call_output", call_id: call.call_id, output: "Sunny." }],
      });
      expect(response.status).toBe("incomplete");
    });

    it("calls a tool of a namespace by its own name, and accepts its result", async () => {
      const namespace = {
        type: "namespace" as const,
        name: "mcp__sky",
        description: "Sky",
        tools: [weather],
      };
      const tools = [namespace];
      const { output } = await openai.responses.create({
        ...request,
        tools,
        tool_choice: "required",
        parallel_tool_calls: false,
        max_output_tokens: 400,
      });
      const call = output.find((item) => item.type === "function_call");
      if (call === undefined) throw new Error("no call");
      expect([call.namespace, call.name]).toEqual(["mcp__sky", "get_weather"]);
      expect(["Rome", "Oslo"]).toContain(JSON.parse(call.arguments).city);
      const next = await openai.responses.create({
        ...request,
        max_output_tokens: 5,
        tools,
        input: [question, call, { type: "function_call_output", call_id: call.call_id, output: "Sunny." }],
      });
      expect(next.status).toBe("incomplete");
    });

    it("calls a custom tool with a text, the same streamed as in one piece, and accepts its result", async () => {
      const patch = { type: "custom" as const, name: "patch", description: "Changes a file." };
      const body = {
        ...request,
        tools: [patch],
        tool_choice: { type: "custom" as const, name: "patch" },
        max_output_tokens: 60, // random weights write long texts
      };
      const { whole, streamed, events } = await createBoth(body);
      const findCall = ({ output }: ResponseObject) =>
        output.find((item) => item.type === "custom_tool_call");
      const call = findCall(whole);
      if (call === undefined) throw new Error("no call");
      expect([call.name, call.input === ""]).toEqual(["patch", false]);
      expect(findCall(streamed)?.input).toBe(call.input);
      const deltas = events.map((event) =>
        event.type === "response.custom_tool_call_input.delta" ? event.delta : "",
      );
      expect(deltas.join("")).toBe(call.input);
      const next = await openai.responses.create({
        ...request,
        max_output_tokens: 5,
        tools: [patch],
        input: [question, call, { type: "custom_tool_call_output", call_id: call.call_id, output: "Done." }],
      });
      expect(next.status).toBe("incomplete");
    });

    it("calls only the allowed tools", async () => {
      const other = { ...weather, name: "get_time" };
      const allowed = { type: "allowed_tools" as const, mode: "required" as const, tools: [{ ...other }] };
      const { output } = await openai.responses.create({
        ...request,
        tools: [weather, other],
        tool_choice: allowed,
        max_output_tokens: 1_500, // random weights write long texts
      });
      const names = output.flatMap((item) => (item.type === "function_call" ? [item.name] : []));
      expect(new Set(names)).toEqual(new Set(["get_time"]));
    });

    it("refuses unsupported schemas with their field, and continues", async () => {
      for (const schema of [{ type: "string", pattern: "^(a$" }, { $ref: "#/$defs/missing" }, { enum: [] }]) {
        const format = { type: "json_schema" as const, name: "a", schema, strict: true };
        await expect(openai.responses.create({ ...request, text: { format } })).rejects.toMatchObject({
          constructor: OpenAI.BadRequestError,
          param: "text.format",
        });
      }
      expect((await openai.responses.create({ ...request, max_output_tokens: 2 })).status).toBe("incomplete");
    });

    it("refuses a conversation that is longer than the context, with the numbers", async () => {
      const input = "word ".repeat(5_000);
      await expect(openai.responses.create({ ...request, input })).rejects.toMatchObject({
        constructor: OpenAI.BadRequestError,
        code: "context_length_exceeded",
        error: { n_ctx: 2048, n_prompt_tokens: expect.any(Number) },
      });
    });
  },
);
