import type { ToolCall } from "@ingle/engine";
import { scriptedModel } from "../../../test/harness/scripted-model.ts";
import type { Script } from "@ingle/fixtures/scripted-addon";
import { AnthropicMessage, MessageStreamEvent, type ContentBlock } from "@ingle/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toEvents } from "./events.ts";
import { toMessage } from "./response.ts";

const head = { id: "msg_1", model: "m" };
const request = { messages: [{ role: "user", content: "Hi" }], stop: ["END"] };

async function collectEvents(script: Script): Promise<MessageStreamEvent[]> {
  const { model } = await scriptedModel(script);
  const seen: MessageStreamEvent[] = [];
  for await (const text of toEvents(head, model.generate(request))) {
    const [, name, json = ""] = /^event: (\w+)\ndata: ([^\n]+)\n\n$/.exec(text) ?? [];
    const event = MessageStreamEvent.parse(JSON.parse(json));
    expect(event.type).toBe(name);
    seen.push(event);
  }
  return seen;
}

/** What a reply is read as once its pieces have come this far: a whole reading for each of them. */
type Reading = [content: string, reasoning: string, ...calls: ToolCall[]];

/** A reply whose n pieces are read as the n readings; the last is also the whole one. */
function readAs(...readings: Reading[]): Script {
  return {
    pieces: readings.map(() => "."),
    delayMs: 3,
    reply: (text) => {
      const [content, reasoning, ...calls] = readings[text.length - 1] ?? ["", ""];
      return { content, reasoning, calls };
    },
  };
}

const call = (id: string, json: string): ToolCall => ({ id, name: "f", arguments: json });
const shapes = (events: MessageStreamEvent[]) =>
  events.map((event) => {
    if (event.type === "content_block_start") return `${event.content_block.type} ${event.index}`;
    return event.type === "content_block_delta" ? event.delta.type : event.type;
  });

/** Puts the blocks together as a client does. */
function assembled(events: MessageStreamEvent[]): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  const inputs = new Map<number, string>();
  for (const event of events) {
    if (event.type === "content_block_start") blocks[event.index] = { ...event.content_block };
    if (event.type !== "content_block_delta") continue;
    const [block, { delta }] = [blocks[event.index], event];
    if (delta.type === "text_delta" && block?.type === "text") block.text += delta.text;
    if (delta.type === "thinking_delta" && block?.type === "thinking") block.thinking += delta.thinking;
    if (delta.type === "input_json_delta")
      inputs.set(event.index, (inputs.get(event.index) ?? "") + delta.partial_json);
  }
  for (const [index, json] of inputs) {
    const block = blocks[index];
    if (block?.type === "tool_use") block.input = JSON.parse(json);
  }
  return blocks;
}

/** One block open at a time, numbers without gaps, a frame around all of them. */
function expectOrder(events: MessageStreamEvent[]): void {
  const types = events.map(({ type }) => type);
  expect([types[0], ...types.slice(-2)]).toEqual(["message_start", "message_delta", "message_stop"]);
  let open: number | undefined;
  let next = 0;
  for (const event of events.slice(1, -2)) {
    if (event.type === "content_block_start") {
      expect([open, event.index]).toEqual([undefined, next]);
      open = next++;
    } else if (event.type === "content_block_delta") expect(event.index).toBe(open);
    else if (event.type === "content_block_stop") {
      expect(event.index).toBe(open);
      open = undefined;
    } else expect.unreachable(event.type);
  }
  expect(open).toBeUndefined();
}

describe("a streamed message", () => {
  it("opens with the prompt's tokens, and closes with the reason and the whole usage", async () => {
    const events = await collectEvents({ pieces: ["Hel", "lo"] });
    expect(shapes(events)).toEqual([
      "message_start",
      "text 0",
      "text_delta",
      "text_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    const usage = {
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      input_tokens: "user: Hi".length,
    };
    expect(events[0]).toEqual({
      type: "message_start",
      message: {
        ...head,
        type: "message",
        role: "assistant",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usage, output_tokens: 0 },
      },
    });
    expect(events.at(-2)).toEqual({
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { ...usage, output_tokens: 2 },
    });
  });

  it.each<[Script, object]>([
    [{ finishReason: "length" }, { stop_reason: "max_tokens", stop_sequence: null }],
    [{ stop: "END" }, { stop_reason: "stop_sequence", stop_sequence: "END" }],
    [{ stop: "<|im_end|>" }, { stop_reason: "end_turn", stop_sequence: null }],
    [readAs(["", "", call("a", "{}")]), { stop_reason: "tool_use", stop_sequence: null }],
  ])("of %j ends with %j", async (script, delta) => {
    expect((await collectEvents(script)).at(-2)).toMatchObject({ delta });
  });

  it("has a block for its thoughts, signed with nothing, one for its text and one for each call", async () => {
    const events = await collectEvents(
      readAs(
        ["", "Hm"],
        ["", "Hmm."],
        ["Let me", "Hmm."],
        ["Let me see.", "Hmm.", call("a", '{"x":')],
        ["Let me see.", "Hmm.", call("a", '{"x":1}'), call("b", '{"y":')],
        ["Let me see.", "Hmm.", call("a", '{"x":1}'), call("b", '{"y":2}')],
      ),
    );
    expectOrder(events);
    expect(shapes(events).filter((shape) => / \d$|signature/.test(shape))).toEqual([
      "thinking 0",
      "signature_delta",
      "text 1",
      "tool_use 2",
      "tool_use 3",
    ]);
    expect(assembled(events)).toEqual([
      { type: "thinking", thinking: "Hmm.", signature: "" },
      { type: "text", text: "Let me see." },
      { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
      { type: "tool_use", id: "b", name: "f", input: { y: 2 } },
    ]);
  });

  it("ends a call before the text that comes after it", async () => {
    const events = await collectEvents(
      readAs(["", "", call("a", '{"x":')], ["Done.", "", call("a", '{"x":1}')]),
    );
    expectOrder(events);
    expect(assembled(events)).toEqual([
      { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
      { type: "text", text: "Done." },
    ]);
  });

  it("has an empty object for a call without arguments, also when others follow it", async () => {
    const events = await collectEvents(readAs(["", "", call("a", ""), call("b", "")]));
    expectOrder(events);
    expect(assembled(events)).toMatchObject([
      { id: "a", input: {} },
      { id: "b", input: {} },
    ]);
  });

  it("without any text has no blocks", async () => {
    const events = await collectEvents({ pieces: [] });
    expect(shapes(events)).toEqual(["message_start", "message_delta", "message_stop"]);
  });

  it("is put together to the message in one piece, whatever characters it has", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: "grapheme", minLength: 1 }), { maxLength: 5 }),
        async (pieces) => {
          const events = await collectEvents({ pieces });
          expectOrder(events);
          const { model } = await scriptedModel({ pieces });
          const whole = AnthropicMessage.parse(toMessage(head, await model.generate(request)));
          expect(assembled(events)).toEqual(whole.content);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("a message in one piece", () => {
  it("leaves out a call that a limit has cut", async () => {
    const { model } = await scriptedModel({
      finishReason: "length",
      pieces: ["."],
      reply: () => ({ content: "", reasoning: "", calls: [call("a", '{"x":1}'), call("b", '{"y":')] }),
    });
    const { content, stop_reason } = toMessage(head, await model.generate(request));
    expect(stop_reason).toBe("max_tokens");
    expect(content).toEqual([{ type: "tool_use", id: "a", name: "f", input: { x: 1 } }]);
  });
});
