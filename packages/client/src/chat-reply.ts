// Puts the chunks of a streamed chat completion together again. Used by chat-stream.ts.
import type { ChatCompletion, ChatCompletionChunk, ChoiceLogprobs, Timings, Usage } from "@ingle/protocol";

import { StreamError } from "./errors.ts";

type Choice = ChatCompletion["choices"][number];
type ChoicePart = ChatCompletionChunk["choices"][number];
type ToolCallPart = NonNullable<ChoicePart["delta"]["tool_calls"]>[number];

/** The message of a reply; it can stand in the `messages` of the next request as it is. */
export type ReplyMessage = Choice["message"];

/** A reply that came in chunks, in the form of one that did not. */
export interface StreamedCompletion extends Omit<ChatCompletion, "choices" | "usage" | "timings"> {
  choices: [Choice, ...Choice[]];
  /** There when the stream was asked for it: `stream()` does, `create()` with `stream_options.include_usage`. */
  usage: Usage | undefined;
  /** Of several choices, those of the one that took longest. `undefined` from servers that do not tell. */
  timings: Timings | undefined;
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
  let head: ChatCompletionChunk | undefined;
  let usage: Usage | undefined;
  let timings: Timings | undefined;
  return {
    add(chunk) {
      head ??= chunk;
      usage = chunk.usage ?? usage;
      if (isWhole(chunk.timings) && chunk.timings.predicted_ms >= (timings?.predicted_ms ?? 0))
        timings = chunk.timings;
      for (const part of chunk.choices) addPart(entryOf(choices, part.index, emptyChoice), part);
    },
    text: () => choices.get(0)?.content ?? "",
    completion() {
      const [first, ...others] = inOrder(choices).map(([index, choice]) => toChoice(index, choice));
      if (head === undefined || first === undefined) throw invalid("the stream held no reply");
      const { id, created, model, system_fingerprint } = head;
      const object = "chat.completion";
      return { id, object, created, model, system_fingerprint, choices: [first, ...others], usage, timings };
    },
  };
}

/** Before the last chunk of a choice, `timings` may hold what is known so far. */
function isWhole(timings: Partial<Timings> | undefined): timings is Timings {
  return timings?.prompt_n !== undefined && timings.predicted_ms !== undefined;
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
  if (finishReason === undefined) throw invalid(`choice ${index} ended without a finish_reason`);
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
  if (id === undefined || name === undefined) throw invalid("a tool call came without its id or name");
  return { id, type: "function", function: { name, arguments: text } };
}

function entryOf<Value>(entries: Map<number, Value>, key: number, make: () => Value): Value {
  const found = entries.get(key);
  if (found !== undefined) return found;
  const made = make();
  entries.set(key, made);
  return made;
}

function inOrder<Value>(entries: ReadonlyMap<number, Value>): [number, Value][] {
  return [...entries].toSorted(([a], [b]) => a - b);
}

function invalid(message: string): StreamError {
  return new StreamError(message, "stream_invalid", null);
}
