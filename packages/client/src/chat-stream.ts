// A streamed chat completion: its chunks, its text, and the complete reply at the end.
import type { ChatCompletion, ChatCompletionChunk, ChoiceLogprobs } from "@ingle/protocol";

import { hasList, isRecord } from "./response-body.ts";
import { ChoiceStream, collectChoices, findOrAdd, inOrder, invalidReply } from "./choice-stream.ts";
import type { CompletionSoFar, Totals } from "./choice-stream.ts";

type Choice = ChatCompletion["choices"][number];
type ChoicePart = ChatCompletionChunk["choices"][number];
type ToolCallPart = NonNullable<ChoicePart["delta"]["tool_calls"]>[number];

/** The message of a reply; it can be sent in the `messages` of the next request unchanged. */
export type ReplyMessage = Choice["message"];

/** A streamed reply in the form of one that was not streamed. */
export interface StreamedCompletion extends Omit<ChatCompletion, "choices" | keyof Totals>, Totals {
  choices: [Choice, ...Choice[]];
}

interface CallSoFar {
  id: string | undefined;
  name: string | undefined;
  arguments: string;
}

interface ChoiceSoFar {
  text: string;
  reasoning: string;
  readonly calls: Map<number, CallSoFar>;
  logprobs: ChoiceLogprobs["content"] | undefined;
  finishReason: Choice["finish_reason"] | undefined;
}

/** The chunks of a chat completion. */
export class ChatStream extends ChoiceStream<ChatCompletionChunk, StreamedCompletion> {
  protected override readonly soFar = createReplySoFar();

  /** The message of the first choice, with its reasoning and tool calls. */
  async finalMessage(): Promise<ReplyMessage> {
    return (await this.finalCompletion()).choices[0].message;
  }

  protected override textsOf({ choices }: ChatCompletionChunk): readonly string[] {
    return choices.filter(({ index }) => index === 0).map(({ delta }) => delta.content ?? "");
  }

  protected override toEvent(data: unknown): ChatCompletionChunk | undefined {
    return isChunk(data) ? data : undefined;
  }
}

export function createReplySoFar(): CompletionSoFar<ChatCompletionChunk, StreamedCompletion> {
  const collected = collectChoices({ start: emptyChoice, add: addPart, finish: toChoice });
  return {
    ...collected,
    completion: () => ({ ...collected.completion(), object: "chat.completion" }),
  };
}

function emptyChoice(): ChoiceSoFar {
  return { text: "", reasoning: "", calls: new Map(), logprobs: undefined, finishReason: undefined };
}

function addPart(choice: ChoiceSoFar, { delta, finish_reason, logprobs }: ChoicePart): void {
  choice.text += delta.content ?? "";
  choice.reasoning += delta.reasoning_content ?? "";
  choice.finishReason = finish_reason ?? choice.finishReason;
  if (logprobs?.content !== undefined) (choice.logprobs ??= []).push(...logprobs.content);
  for (const part of delta.tool_calls ?? []) addCallPart(choice, part);
}

function addCallPart({ calls }: ChoiceSoFar, { index, id, function: named }: ToolCallPart): void {
  const call = findOrAdd(calls, index, (): CallSoFar => ({ id: undefined, name: undefined, arguments: "" }));
  call.id ??= id;
  call.name ??= named?.name;
  call.arguments += named?.arguments ?? "";
}

function toChoice(index: number, { text, reasoning, calls, logprobs, finishReason }: ChoiceSoFar): Choice {
  if (finishReason === undefined) throw invalidReply(`choice ${index} ended without a finish_reason`);
  const toolCalls = inOrder(calls).map(([, call]) => toToolCall(call));
  return {
    index,
    message: {
      role: "assistant",
      // A reply of nothing but tool calls has no content, which differs from an empty one.
      content: text === "" && toolCalls.length > 0 ? null : text,
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
  if (id === undefined || name === undefined) throw invalidReply("a tool call has no id or no name");
  return { id, type: "function", function: { name, arguments: text } };
}

function isChunk(value: unknown): value is ChatCompletionChunk {
  return hasList(value, "choices") && value["choices"].every(isChoice);
}

function isChoice(value: unknown): boolean {
  return isRecord(value) && typeof value["index"] === "number" && isRecord(value["delta"]);
}
