import type { ChatCompletionChunk } from "@ingle/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";

import { createReplySoFar } from "./chat-stream.ts";
import { StreamError } from "./errors.ts";

type Choice = ChatCompletionChunk["choices"][number];

const head = { id: "chatcmpl-1", created: 7, model: "tiny", system_fingerprint: "print" } as const;
const timings = {
  prompt_n: 3,
  prompt_ms: 1,
  prompt_per_second: 3_000,
  predicted_n: 5,
  predicted_ms: 10,
  predicted_per_second: 500,
  cache_n: 0,
  dropped_n: 0,
};

function chunk(choices: Choice[], rest: Partial<ChatCompletionChunk> = {}): ChatCompletionChunk {
  return { ...head, object: "chat.completion.chunk", choices, ...rest };
}

function part(delta: Choice["delta"], rest: Partial<Choice> = {}): Choice {
  return { index: 0, delta, finish_reason: null, ...rest };
}

function makeReply(...chunks: ChatCompletionChunk[]) {
  const reply = createReplySoFar();
  for (const each of chunks) reply.add(each);
  return reply;
}

test("collects text, reasoning, usage, timings and the head", () => {
  const usage = {
    prompt_tokens: 3,
    completion_tokens: 5,
    total_tokens: 8,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const reply = makeReply(
    chunk([part({ role: "assistant", content: null })]),
    chunk([part({ reasoning_content: "Is it " })]),
    chunk([part({ reasoning_content: "Paris?" })]),
    chunk([part({ content: "Pa" })], { timings: { predicted_n: 1, predicted_ms: 99 } }),
    chunk([part({ content: "ris" })]),
    chunk([part({}, { finish_reason: "stop" })], { timings }),
    chunk([], { usage }),
  );
  expect(reply.text()).toBe("Paris");
  expect(reply.completion()).toEqual({
    ...head,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "Paris", reasoning_content: "Is it Paris?" },
        finish_reason: "stop",
        logprobs: null,
      },
    ],
    usage,
    timings,
  });
});

test("fragments of several calls in any order become complete calls, sorted by index", () => {
  const call = (index: number, id: string | undefined, name: string | undefined, text: string) =>
    chunk([
      part({
        tool_calls: [
          {
            index,
            ...(id === undefined ? {} : { id, type: "function" as const }),
            function: { ...(name === undefined ? {} : { name }), arguments: text },
          },
        ],
      }),
    ]);
  const reply = makeReply(
    call(1, "call_b", "later", ""),
    call(0, "call_a", "sooner", '{"a":'),
    call(1, undefined, undefined, '{"b":2}'),
    call(0, undefined, undefined, "1}"),
    chunk([part({}, { finish_reason: "tool_calls" })]),
  );
  const { message } = reply.completion().choices[0];
  expect(message).toEqual({
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "call_a", type: "function", function: { name: "sooner", arguments: '{"a":1}' } },
      { id: "call_b", type: "function", function: { name: "later", arguments: '{"b":2}' } },
    ],
  });
});

test("an empty reply is an empty text, not null", () => {
  const { choices } = makeReply(chunk([part({}, { finish_reason: "stop" })])).completion();
  expect(choices[0].message).toEqual({ role: "assistant", content: "" });
});

test("choices are sorted by index whatever order they ended in, with the timings of the slowest", () => {
  const reply = makeReply(
    chunk([part({ content: "b" }, { index: 1 })]),
    chunk([part({ content: "a" })]),
    chunk([part({}, { index: 1, finish_reason: "length" })], { timings }),
    chunk([part({}, { finish_reason: "stop" })], { timings: { ...timings, predicted_ms: 2 } }),
  );
  const whole = reply.completion();
  expect(whole.choices.map(({ index, message }) => [index, message.content])).toEqual([
    [0, "a"],
    [1, "b"],
  ]);
  expect(whole.timings?.predicted_ms).toBe(10);
});

test("log probabilities are those of all chunks, in order", () => {
  const token = (text: string) => ({ token: text, logprob: -1, bytes: null, top_logprobs: [] });
  const told = (...texts: string[]) => ({ logprobs: { content: texts.map(token), refusal: null } });
  const { choices } = makeReply(
    chunk([part({ content: "ab" }, told("a", "b"))]),
    chunk([part({ content: "c" }, told("c"))]),
    chunk([part({}, { finish_reason: "stop" })]),
  ).completion();
  expect(choices[0].logprobs?.content.map(({ token: text }) => text)).toEqual(["a", "b", "c"]);
});

test("a reply that lacks a required part is an error", () => {
  const unnamed = part({ tool_calls: [{ index: 0, id: "call_a" }] }, { finish_reason: "tool_calls" });
  for (const chunks of [[], [chunk([])], [chunk([part({ content: "Hi" })])], [chunk([unnamed])]]) {
    expect(() => makeReply(...chunks).completion()).toThrow(StreamError);
  }
});

test("a text is the same however it was cut into chunks and interleaved with another choice", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(1), fc.string())), (pieces) => {
      const chunks = pieces.map(([index, content]) => chunk([part({ content }, { index })]));
      const ends = [0, 1].map((index) => chunk([part({}, { index, finish_reason: "stop" })]));
      const { choices } = makeReply(...chunks, ...ends).completion();
      const choiceText = (index: number) =>
        pieces
          .filter(([of]) => of === index)
          .map(([, text]) => text)
          .join("");
      expect(choices.map(({ message }) => message.content)).toEqual([choiceText(0), choiceText(1)]);
    }),
  );
});
