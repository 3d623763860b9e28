import { ErrorBody, ResponseObject, ResponsesEvent } from "@ingle/protocol";
import type { InjectOptions } from "fastify";
import { describe, expect, it } from "vitest";
import {
  scriptedApp,
  scriptedId,
  scriptedServer,
  type ScriptedOptions,
} from "../../../../test/harness/scripted-server.ts";

const pieces = ["Hel", "lo ", "wörld", " 🦆", "\n"];
const slow = { pieces: Array.from({ length: 1000 }, () => "x"), delayMs: 5 };
const failure = { code: "engine_failed" as const, message: "The device is gone." };

function asked(body: object): InjectOptions {
  return { method: "POST", url: "/v1/responses", payload: { model: scriptedId, input: "Hi", ...body } };
}

async function post(url: string, body: object, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: scriptedId, input: "Hi", ...body }),
    ...init,
  });
}

/** Every event, each under its own name; comments are no events. */
function parseEvents(stream: string): ResponsesEvent[] {
  return stream
    .split("\n\n")
    .filter((event) => event !== "" && !event.startsWith(":"))
    .map((event) => {
      const [, name, data = ""] = /^event: (\S+)\ndata: (.*)$/s.exec(event) ?? [];
      const parsed = ResponsesEvent.parse(JSON.parse(data));
      expect(parsed.type).toBe(name);
      return parsed;
    });
}

describe("an answer in one piece", () => {
  it("has the published form, with the settings it was made with", async () => {
    await using scripted = await scriptedApp({
      script: { pieces },
      now: () => new Date(1_700_000_000_500),
      newId: () => "abc",
    });
    const response = await scripted.app.inject(asked({ temperature: 0.5, metadata: { a: "b" } }));
    expect(ResponseObject.strict().parse(response.json())).toEqual({
      id: "resp_abc",
      object: "response",
      created_at: 1_700_000_000,
      completed_at: 1_700_000_000,
      status: "completed",
      error: null,
      incomplete_details: null,
      model: scriptedId,
      output: [
        {
          id: "msg_abc",
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: pieces.join(""), annotations: [], logprobs: [] }],
        },
      ],
      usage: {
        input_tokens: 8,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 13,
      },
      instructions: null,
      max_output_tokens: null,
      temperature: 0.5,
      top_p: 1,
      top_logprobs: 0,
      text: { format: { type: "text" } },
      tools: [],
      tool_choice: "auto",
      parallel_tool_calls: true,
      reasoning: { effort: null, summary: null },
      truncation: "disabled",
      metadata: { a: "b" },
      user: null,
      safety_identifier: null,
      prompt_cache_key: null,
      service_tier: "default",
      store: true,
      background: false,
      previous_response_id: null,
      conversation: null,
    });
  });

  it("gives tools and forms back as they were asked for", async () => {
    await using scripted = await scriptedApp();
    const tool = { type: "function", name: "f", parameters: { type: "object" }, strict: true };
    const format = { type: "json_schema", name: "a", schema: { type: "object" }, strict: true };
    const body = { tools: [tool], tool_choice: "none", text: { format }, reasoning: { effort: "low" } };
    const response = await scripted.app.inject(asked(body));
    expect(ResponseObject.parse(response.json())).toMatchObject({
      tools: [{ ...tool, description: null }],
      tool_choice: "none",
      text: { format },
      reasoning: { effort: "low", summary: null },
    });
  });

  it("is written by the model's template from instructions and items", async () => {
    await using scripted = await scriptedApp();
    await scripted.app.inject(asked({ instructions: "Be brief.", input: [{ role: "user", content: "Hi" }] }));
    expect(scripted.log.prompts).toEqual(["system: Be brief.\nuser: Hi"]);
  });
});

describe("what cannot be answered", () => {
  it.each<[string, object, object, ScriptedOptions?]>([
    ["an unknown model", { model: "other" }, { status: 404, code: "model_not_found", param: "model" }],
    ["no input", { input: undefined }, { status: 400, param: "input" }],
    [
      "an item that is stored nowhere",
      { previous_response_id: "resp_1" },
      { status: 400, param: "previous_response_id" },
    ],
    [
      "a call of a tool that is not here",
      { tools: [{ type: "web_search" }], tool_choice: "required" },
      { status: 400, param: "tool_choice" },
    ],
    [
      "an image for a model of texts",
      { input: [{ role: "user", content: [{ type: "input_image", image_url: "data:," }] }] },
      { status: 400, code: "image_not_supported", param: "input[0].content[0]" },
    ],
    [
      "a schema that no form can be made of",
      { text: { format: { type: "json_schema", name: "a", schema: { type: "no such type" } } } },
      { status: 400, code: "invalid_request", param: "text.format" },
    ],
    [
      "tools of one name",
      {
        tools: [
          { type: "function", name: "f" },
          { type: "function", name: "f" },
        ],
      },
      { status: 400, code: "invalid_request", param: "tools" },
    ],
    [
      "a prompt that is too long",
      {},
      { status: 400, code: "context_length_exceeded", n_prompt_tokens: 9, n_ctx: 8 },
      {
        script: {
          refusal: {
            code: "context_length_exceeded",
            message: "Too long.",
            details: { promptTokens: 9, contextLength: 8 },
          },
        },
      },
    ],
    ["a failure", {}, { status: 500, code: "engine_failed" }, { script: { pieces: [], failure } }],
  ])("%s is an error with its status, streamed or not", async (_name, body, expected, options = {}) => {
    await using scripted = await scriptedApp(options);
    for (const stream of [false, true]) {
      const response = await scripted.app.inject(asked({ stream, ...body }));
      expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
      const { error } = ErrorBody.parse(response.json());
      expect({ status: response.statusCode, ...error }).toMatchObject(expected);
    }
  });
});

describe("a stream", () => {
  it("is whole with the answer in one piece as its end, and no [DONE]", async () => {
    await using scripted = await scriptedServer({ script: { pieces } });
    const response = await post(scripted.server.url, { stream: true });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const raw = await response.text();
    expect(raw).not.toContain("[DONE]");
    const last = parseEvents(raw).at(-1);
    if (last?.type !== "response.completed") throw new Error("not whole");
    const whole = ResponseObject.parse(await (await post(scripted.server.url, {})).json());
    const { usage, output } = last.response;
    expect(usage).toEqual(whole.usage);
    expect(output).toMatchObject([{ content: [{ text: pieces.join("") }] }]);
    expect(whole.output).toMatchObject([{ content: [{ text: pieces.join("") }] }]);
  });

  it("arrives piece by piece, and stops the work when it is left", async () => {
    await using scripted = await scriptedServer({ script: slow });
    const response = await post(scripted.server.url, { stream: true });
    const reader = response.body!.getReader();
    await reader.read();
    expect(scripted.log.running.size).toBe(1);
    await reader.cancel();
    await expect.poll(() => scripted.log.cancelled).toEqual([1]);
  });

  it("that fails after its first event ends with the failed response and the error", async () => {
    await using scripted = await scriptedServer({ script: { pieces, failure } });
    const response = await post(scripted.server.url, { stream: true });
    expect(response.status).toBe(200);
    const events = parseEvents(await response.text());
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.slice(-2)).toMatchObject([
      { type: "response.failed", response: { status: "failed", error: { code: "server_error" } } },
      { type: "error", code: "engine_failed", error: { code: "engine_failed", type: "server_error" } },
    ]);
  });

  it("that fails after nothing but a comment is the error alone", async () => {
    await using scripted = await scriptedApp({
      script: {
        pieces: [" "],
        delayMs: 60,
        failure,
        reply: () => ({ content: "", reasoning: "", calls: [] }),
      },
      keepAliveCommentMs: 10,
    });
    const { body } = await scripted.app.inject(asked({ stream: true }));
    expect(body).toMatch(/^:\n\n/);
    expect(parseEvents(body)).toMatchObject([{ type: "error", sequence_number: 0, code: "engine_failed" }]);
  });
});

describe("a client that leaves", () => {
  it("has its work cancelled, also when it waits for the whole", async () => {
    await using scripted = await scriptedServer({ script: slow });
    const leaving = new AbortController();
    const pending = post(scripted.server.url, {}, { signal: leaving.signal });
    const outcome = pending.then((response) => response.text()).catch((error: unknown) => error);
    await expect.poll(() => scripted.log.running.size).toBe(1);
    leaving.abort();
    await expect.poll(() => scripted.log.cancelled).toEqual([1]);
    expect(await outcome).toBeInstanceOf(DOMException);
  });
});

describe("a client's turn", () => {
  it("goes by its user, or by its safety identifier where there is none", async () => {
    await using scripted = await scriptedApp();
    await scripted.app.inject(asked({ user: "a", safety_identifier: "b" }));
    await scripted.app.inject(asked({ user: "a" }));
    await scripted.app.inject(asked({ safety_identifier: "b" }));
    const [both, user, identifier] = scripted.log.requests.map(({ client }) => client);
    expect(both).toBe(user);
    expect(identifier).not.toBe(user);
  });
});
