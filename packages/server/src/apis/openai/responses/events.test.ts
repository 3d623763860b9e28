import type { GenerationChunk } from "@ingle/engine";
import { scriptedModel } from "../../../../test/harness/scripted-model.ts";
import type { Script } from "@ingle/fixtures/scripted-addon";
import { ResponseObject, ResponsesEvent, ResponsesRequest } from "@ingle/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OutputItems } from "./output-items.ts";
import { toolFinder } from "./tools.ts";
import { toEvents, toText, wholeResponse, type ResponseStream } from "./events.ts";
import { toResponseBase } from "./response.ts";

const body = ResponsesRequest.parse({ model: "m", input: "Hi" });
const head = toResponseBase(body, { id: "resp_1", created_at: 7, model: "m", store: false });

/** Without this tool, every call is a function's. */
const findTool = toolFinder([{ type: "custom", name: "patch" }]);

/** Ids in order: 1, 2, … */
function countingIds(): () => string {
  let last = 0;
  return () => `${++last}`;
}

async function makeStream(script: Script, maxTokens?: number): Promise<ResponseStream> {
  const { model } = await scriptedModel(script);
  const generation = model.generate({ messages: [{ role: "user", content: "Hi" }], maxTokens });
  return toEvents(head, generation, { now: () => new Date(9_500), newId: countingIds(), findTool });
}

async function collectEvents(script: Script, maxTokens?: number): Promise<ResponsesEvent[]> {
  const seen: ResponsesEvent[] = [];
  // Read as a client does: what is sent must not change afterwards.
  for await (const event of (await makeStream(script, maxTokens)).events) {
    seen.push(ResponsesEvent.parse(JSON.parse(JSON.stringify(event))));
  }
  expect(seen.map((event) => event.sequence_number)).toEqual(seen.map((_, index) => index));
  return seen;
}

/** Types without their common beginning. */
const listTypes = (events: readonly ResponsesEvent[]): string[] =>
  events.map(({ type }) => type.replace(/^response\./, ""));

function lastResponse(events: readonly ResponsesEvent[]): ResponseObject {
  const last = events.at(-1);
  if (last?.type !== "response.completed" && last?.type !== "response.incomplete")
    throw new Error("not whole");
  return last.response;
}

const message = (text: string, status = "completed") => ({
  type: "message",
  role: "assistant",
  status,
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
});

/** A model that writes `<thoughts|words|calls`, each call as name and arguments. */
const thinking: Script["reply"] = (text) => {
  const [reasoning = "", content = "", ...calls] = text.split("|");
  return {
    reasoning,
    content,
    calls: calls.map((call) => {
      const [name = "", args = ""] = call.split("=");
      return { id: "", name, arguments: args };
    }),
  };
};

describe("a reply that is a text", () => {
  it("is one message, each event in its place", async () => {
    const events = await collectEvents({ pieces: ["Hel", "lo"] });
    expect(listTypes(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    expect(events[0]).toMatchObject({
      response: { id: "resp_1", status: "in_progress", output: [], usage: null },
    });
    expect(events[2]).toMatchObject({
      output_index: 0,
      item: { id: "msg_1", status: "in_progress", content: [] },
    });
    expect(events[3]).toMatchObject({ item_id: "msg_1", content_index: 0, part: { text: "" } });
    expect(events[5]).toMatchObject({ item_id: "msg_1", delta: "lo", logprobs: [] });
    expect(events[6]).toMatchObject({ text: "Hello" });
    expect(events[8]).toMatchObject({ item: message("Hello") });
  });

  it("ends with the whole response", async () => {
    expect(lastResponse(await collectEvents({ pieces: ["Hel", "lo"] }))).toMatchObject({
      id: "resp_1",
      status: "completed",
      created_at: 7,
      completed_at: 9,
      error: null,
      incomplete_details: null,
      output: [message("Hello")],
      usage: {
        input_tokens: 8,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 10,
      },
    });
  });

  it("that is cut is incomplete", async () => {
    const events = await collectEvents({ pieces: ["Hel", "lo"] }, 1);
    expect(events.at(-1)?.type).toBe("response.incomplete");
    expect(lastResponse(events)).toMatchObject({
      status: "incomplete",
      completed_at: null,
      incomplete_details: { reason: "max_output_tokens" },
      output: [message("Hel", "incomplete")],
    });
  });

  it("that says nothing is an empty message", async () => {
    const events = await collectEvents({ pieces: [] });
    expect(listTypes(events)).not.toContain("output_text.delta");
    expect(lastResponse(events).output).toMatchObject([message("")]);
  });
});

describe("a reply that thinks, speaks and calls", () => {
  const pieces = ["Rome?", "|", "Let me look.", "|weather", '={"city":', '"Rome"}', "|time", "={}"];

  it("has an item for each, which begin and end in order", async () => {
    const events = await collectEvents({ pieces, reply: thinking });
    const items = events.filter((event) => event.type.startsWith("response.output_item"));
    expect(listTypes(items)).toEqual([
      "output_item.added",
      "output_item.done",
      "output_item.added",
      "output_item.done",
      "output_item.added",
      "output_item.added",
      "output_item.done",
      "output_item.done",
    ]);
    expect(lastResponse(events).output).toEqual([
      {
        id: "rs_1",
        type: "reasoning",
        status: "completed",
        summary: [],
        content: [{ type: "reasoning_text", text: "Rome?" }],
      },
      { id: "msg_2", ...message("Let me look.") },
      {
        id: "fc_3",
        type: "function_call",
        status: "completed",
        call_id: expect.stringMatching(/^\w{9}$/),
        name: "weather",
        arguments: '{"city":"Rome"}',
      },
      {
        id: "fc_4",
        type: "function_call",
        status: "completed",
        call_id: expect.stringMatching(/^\w{9}$/),
        name: "time",
        arguments: "{}",
      },
    ]);
    const { usage } = lastResponse(events);
    expect(usage?.output_tokens).toBe(pieces.length);
    expect(usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
    expect(usage?.output_tokens_details.reasoning_tokens).toBeLessThan(pieces.length);
  });

  it("tells of its thoughts as of its text", async () => {
    const events = await collectEvents({ pieces: ["Rome?|"], reply: thinking });
    expect(listTypes(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "reasoning_text.delta",
      "reasoning_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    expect(events[6]).toMatchObject({ item_id: "rs_1", part: { type: "reasoning_text", text: "Rome?" } });
  });

  it("tells a call's arguments in fragments and whole", async () => {
    const events = await collectEvents({ pieces: ["||weather=", '{"city":', '"Rome"}'], reply: thinking });
    const deltas = events.filter((event) => event.type === "response.function_call_arguments.delta");
    expect(deltas.map(({ delta }) => delta).join("")).toBe('{"city":"Rome"}');
    expect(listTypes(events).slice(-3)).toEqual([
      "function_call_arguments.done",
      "output_item.done",
      "completed",
    ]);
    expect(events.at(-3)).toMatchObject({ item_id: "fc_1", name: "weather", arguments: '{"city":"Rome"}' });
  });

  it("that is cut inside a call has that call incomplete", async () => {
    const events = await collectEvents({ pieces: ["||f={}", '|g={"a":', "1}"], reply: thinking }, 2);
    expect(lastResponse(events).output).toMatchObject([
      { name: "f", status: "completed" },
      { name: "g", status: "incomplete" },
    ]);
  });
});

describe("probabilities", () => {
  const logprobs = [
    { id: 1, bytes: Buffer.from("a"), logprob: -0.5, top: [{ id: 2, bytes: Buffer.from("b"), logprob: -1 }] },
  ];
  const told = [
    {
      token: "a",
      logprob: -0.5,
      bytes: [97],
      top_logprobs: [{ token: "b", logprob: -1, bytes: [98] }],
    },
  ];

  it("stand beside the text that they are of, and in the whole of it", () => {
    const output = new OutputItems(countingIds(), findTool);
    const chunks: GenerationChunk[] = [
      { text: "", reasoning: "Hm", tokens: 1, logprobs },
      { text: "a", tokens: 1, logprobs },
      { text: "", tokens: 1, logprobs },
    ];
    const events = [...chunks.flatMap((chunk) => [...output.add(chunk)]), ...output.finish(false)];
    const deltas = events.filter((event) => event.type === "response.output_text.delta");
    expect(deltas).toMatchObject([
      { delta: "a", logprobs: told },
      { delta: "", logprobs: told },
    ]);
    expect(output.items).toMatchObject([
      { type: "reasoning" },
      { content: [{ logprobs: [...told, ...told] }] },
    ]);
  });
});

describe("a call of a custom tool", () => {
  it("has the text of its only argument, which grows with the pieces of the arguments", () => {
    const output = new OutputItems(countingIds(), findTool);
    const pieces = ["", '{"inp', 'ut": "a\\', "nb", "\\u00", 'e9"}'];
    const events = [
      ...pieces.flatMap((fragment) => [
        ...output.add({
          text: "",
          tokens: 1,
          toolCalls: [{ index: 0, id: "a", name: "patch", arguments: fragment }],
        }),
      ]),
      ...output.finish(false),
    ];
    const place = { item_id: "ctc_1", output_index: 0 };
    expect(events).toMatchObject([
      { type: "response.output_item.added", item: { type: "custom_tool_call", name: "patch", input: "" } },
      { type: "response.custom_tool_call_input.delta", ...place, delta: "a" },
      { type: "response.custom_tool_call_input.delta", ...place, delta: "\nb" },
      { type: "response.custom_tool_call_input.delta", ...place, delta: "é" },
      { type: "response.custom_tool_call_input.done", ...place, input: "a\nbé" },
      { type: "response.output_item.done", item: { call_id: "a", input: "a\nbé", status: "completed" } },
    ]);
  });
});

it("a call of a custom tool that was cut before its text has none", () => {
  const output = new OutputItems(countingIds(), findTool);
  const toolCalls = [{ index: 0, id: "a", name: "patch", arguments: '{"in' }];
  const events = [...output.add({ text: "", tokens: 1, toolCalls }), ...output.finish(true)];
  expect(events.at(-1)).toMatchObject({ item: { input: "", status: "incomplete" } });
});

describe("parts of calls that come late", () => {
  it("go to the call that they are of", () => {
    const output = new OutputItems(countingIds(), findTool);
    const add = (chunk: Partial<GenerationChunk>) => [...output.add({ text: "", tokens: 1, ...chunk })];
    add({ toolCalls: [{ index: 0, id: "a", name: "f", arguments: "" }] });
    add({ toolCalls: [{ index: 1, id: "b", name: "g", arguments: "{}" }] });
    add({ text: "And so on" });
    add({ toolCalls: [{ index: 0, arguments: "{}" }] });
    const done = [...output.finish(false)].filter((event) => event.type === "response.output_item.done");
    expect(done).toHaveLength(3);
    expect(output.items).toMatchObject([
      { call_id: "a", arguments: "{}", status: "completed" },
      { call_id: "b", arguments: "{}", status: "completed" },
      message("And so on"),
    ]);
  });
});

describe("any reply", () => {
  const chunk = fc.record({
    text: fc.string({ maxLength: 3 }),
    reasoning: fc.string({ maxLength: 2 }),
    tokens: fc.constant(1),
    toolCalls: fc.array(
      fc.record({
        index: fc.nat(2),
        id: fc.constant("i"),
        name: fc.constantFrom("f", "patch"),
        arguments: fc.oneof(fc.string(), fc.constant('{"input":"a\\n'), fc.constant('"}')),
      }),
      { maxLength: 2 },
    ),
  });

  it("is told by its events: each item begins once, grows to what it is, and ends once", () => {
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 10 }), fc.boolean(), (chunks, isCut) => {
        const output = new OutputItems(countingIds(), findTool);
        const told = new Map<number, { open: boolean; text: string }>();
        const events = function* () {
          for (const each of chunks) yield* output.add(each);
          yield* output.finish(isCut);
        };
        for (const event of events()) {
          if (event.type === "response.output_item.added") {
            expect(event.output_index).toBe(told.size);
            told.set(event.output_index, { open: true, text: "" });
          } else if ("delta" in event) {
            const item = told.get(event.output_index)!;
            expect(item.open).toBe(true);
            item.text += event.delta;
          } else if (event.type === "response.output_item.done") {
            expect(told.get(event.output_index)!.open).toBe(true);
            told.get(event.output_index)!.open = false;
          }
        }
        const texts = output.items.map((item) => {
          if (item.type === "custom_tool_call") return item.input;
          return item.type === "function_call" ? item.arguments : item.content[0]!.text;
        });
        expect([...told.values()]).toEqual(texts.map((text) => ({ open: false, text })));
        const joined = (type: string) =>
          texts.filter((_, index) => output.items[index]!.type === type).join("");
        expect(joined("message")).toBe(chunks.map(({ text }) => text).join(""));
        expect(joined("reasoning")).toBe(chunks.map(({ reasoning }) => reasoning).join(""));
        const statuses = output.items.map(({ status }) => status);
        expect(statuses.slice(0, -1).every((status) => status === "completed")).toBe(true);
        expect(statuses.at(-1)).toBe(isCut ? "incomplete" : "completed");
      }),
    );
  });

  it("in one piece is what its last event holds", async () => {
    const script = { pieces: ["Rome?|", "Let me look.", "|f={}"], reply: thinking };
    const whole = ResponseObject.parse(await wholeResponse(await makeStream(script)));
    const last = lastResponse(await collectEvents(script));
    const withoutCallIds = JSON.stringify(last).replaceAll(/"call_id":"\w{9}"/g, "");
    expect(JSON.stringify(whole).replaceAll(/"call_id":"\w{9}"/g, "")).toBe(withoutCallIds);
  });
});

describe("a failure", () => {
  const failure = { code: "engine_failed" as const, message: "The device is gone." };
  const error = { message: "Gone.", type: "server_error", param: null, code: "engine_failed" };

  it("after the first event tells what there was, and why it ended", async () => {
    const stream = await makeStream({ pieces: ["Hel"], failure });
    const seen: ResponsesEvent[] = [];
    const read = async (): Promise<void> => {
      for await (const event of stream.events) seen.push(event);
    };
    await expect(read()).rejects.toMatchObject({ code: "engine_failed" });
    const last = stream.failure(error).map((event) => ResponsesEvent.parse(event));
    expect(last).toMatchObject([
      {
        type: "response.failed",
        sequence_number: seen.length,
        response: {
          status: "failed",
          error: { code: "server_error", message: "Gone." },
          output: [message("Hel", "incomplete")],
          usage: null,
        },
      },
      {
        type: "error",
        sequence_number: seen.length + 1,
        code: "engine_failed",
        message: "Gone.",
        param: null,
        error,
      },
    ]);
  });

  it("before the first event is the error alone", async () => {
    const stream = await makeStream({ pieces: [], failure });
    await expect(stream.events.next()).rejects.toMatchObject({ code: "engine_failed" });
    expect(stream.failure(error)).toMatchObject([{ type: "error", sequence_number: 0 }]);
  });
});

it("is sent with its name before its data", () => {
  const delta = { output_index: 0, content_index: 0, item_id: "rs_1", delta: "a\nb" };
  const text = toText({ type: "response.reasoning_text.delta", ...delta, sequence_number: 3 });
  expect(text).toMatch(/^event: response\.reasoning_text\.delta\ndata: \{[^\n]*\}\n\n$/);
});
