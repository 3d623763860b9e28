// Puts the chunks of a streamed chat completion together again. Used by chat-stream.ts.
import type { ChatCompletion, ChatCompletionChunk, ChoiceLogprobs } from "@ingle/protocol";

import { addTotals, entryOf, inOrder, invalidReply } from "./reply-parts.ts";
import type { Totals } from "./reply-parts.ts";

type Choice = ChatCompletion["choices"][number];
type ChoicePart = ChatCompletionChunk["choices"][number];
type ToolCallPart = NonNullable<ChoicePart["delta"]["tool_calls"]>[number];

/** The message of a reply; it can stand in the `messages` of the next request as it is. */
export type ReplyMessage = Choice["message"];

/** A reply that came in chunks, in the form of one that did not. */
export interface StreamedCompletion extends Omit<ChatCompletion, "choices" | keyof Totals>, Totals {
  choices: [Choice, ...Choice[]];
}

/** A call of which some has come. */
interface CallSoFar {
  id: string | undefined;
  name: string | undefined;
  arguments: string;
}

/** A choice of which some has come. */
interface ChoiceSoFar {
  content: string;
  reasoning: string;
  readonly calls: Map<number, CallSoFar>;
  logprobs: ChoiceLogprobs["content"] | undefined;
  finishReason: Choice["finish_reason"] | undefined;
}

/** A reply that grows by its chunks. */
export interface ReplySoFar {
  add(chunk: ChatCompletionChunk): void;
  /** The text of the first choice so far. */
  text(): string;
  /**
   * Everything so far as one answer.
   * @throws StreamError when something is missing that every whole reply has.
   */
  completion(): StreamedCompletion;
}

/** Begins a reply without any chunk. */
export function createReplySoFar(): ReplySoFar {
  const choices = new Map<number, ChoiceSoFar>();
  const totals: Totals = { usage: undefined, timings: undefined };
  let head: ChatCompletionChunk | undefined;
  return {
    add(chunk) {
      head ??= chunk;
      addTotals(totals, chunk);
      for (const part of chunk.choices) addPart(entryOf(choices, part.index, emptyChoice), part);
    },
    text: () => choices.get(0)?.content ?? "",
    completion() {
      const [first, ...others] = inOrder(choices).map(([index, choice]) => toChoice(index, choice));
      if (head === undefined || first === undefined) throw invalidReply("the stream held no reply");
      const { id, created, model, system_fingerprint } = head;
      const object = "chat.completion";
      return { id, object, created, model, system_fingerprint, choices: [first, ...others], ...totals };
    },
  };
}

function emptyChoice(): ChoiceSoFar {
  return { content: "", reasoning: "", calls: new Map(), logprobs: undefined, finishReason: undefined };
}

function addPart(choice: ChoiceSoFar, { delta, finish_reason, logprobs }: ChoicePart): void {
  choice.content += delta.content ?? "";
  choice.reasoning += delta.reasoning_content ?? "";
  choice.finishReason = finish_reason ?? choice.finishReason;
  if (logprobs?.content !== undefined) (choice.logprobs ??= []).push(...logprobs.content);
  for (const part of delta.tool_calls ?? []) addCallPart(choice, part);
}

function addCallPart({ calls }: ChoiceSoFar, { index, id, function: named }: ToolCallPart): void {
  const call = entryOf(calls, index, (): CallSoFar => ({ id: undefined, name: undefined, arguments: "" }));
  call.id ??= id;
  call.name ??= named?.name;
  call.arguments += named?.arguments ?? "";
}

function toChoice(index: number, { content, reasoning, calls, logprobs, finishReason }: ChoiceSoFar): Choice {
  if (finishReason === undefined) throw invalidReply(`choice ${index} ended without a finish_reason`);
  const toolCalls = inOrder(calls).map(([, call]) => toToolCall(call));
  return {
    index,
    message: {
      role: "assistant",
      // A reply that is nothing but calls has no content, which is not the same as an empty one.
      content: content === "" && toolCalls.length > 0 ? null : content,
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    },
    finish_reason: finishReason,
    logprobs: logprobs === undefined ? null : { content: logprobs, refusal: null },
  };
}

function toToolCall({
  id,
  name,
  arguments: text,
}: CallSoFar): NonNullable<ReplyMessage["tool_calls"]>[number] {
  if (id === undefined || name === undefined) throw invalidReply("a tool call came without its id or name");
  return { id, type: "function", function: { name, arguments: text } };
}
