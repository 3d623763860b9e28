// Puts the chunks of a streamed text completion together again. Used by completion-stream.ts.
import type { Completion, CompletionChunk, CompletionLogprobs } from "@ingle/protocol";

import { addTotals, entryOf, inOrder, invalidReply } from "./reply-parts.ts";
import type { Totals } from "./reply-parts.ts";

type Choice = Completion["choices"][number];
type ChoicePart = CompletionChunk["choices"][number];

/** A text completion that came in chunks, in the form of one that did not. */
export interface StreamedTextCompletion extends Omit<Completion, "choices" | keyof Totals>, Totals {
  choices: [Choice, ...Choice[]];
}

interface ChoiceSoFar {
  text: string;
  logprobs: CompletionLogprobs | null;
  finishReason: Choice["finish_reason"] | undefined;
}

/** A text completion that grows by its chunks. */
export interface TextReplySoFar {
  add(chunk: CompletionChunk): void;
  /** The text of the first choice so far. */
  text(): string;
  /**
   * Everything so far as one answer.
   * @throws StreamError when something is missing that every whole reply has.
   */
  completion(): StreamedTextCompletion;
}

/** Begins a text completion without any chunk. */
export function createTextReplySoFar(): TextReplySoFar {
  const choices = new Map<number, ChoiceSoFar>();
  const totals: Totals = { usage: undefined, timings: undefined };
  let head: CompletionChunk | undefined;
  return {
    add(chunk) {
      head ??= chunk;
      addTotals(totals, chunk);
      for (const part of chunk.choices) addPart(entryOf(choices, part.index, emptyChoice), part);
    },
    text: () => choices.get(0)?.text ?? "",
    completion() {
      const [first, ...others] = inOrder(choices).map(([index, choice]) => toChoice(index, choice));
      if (head === undefined || first === undefined) throw invalidReply("the stream held no reply");
      const { id, object, created, model, system_fingerprint } = head;
      return { id, object, created, model, system_fingerprint, choices: [first, ...others], ...totals };
    },
  };
}

function emptyChoice(): ChoiceSoFar {
  return { text: "", logprobs: null, finishReason: undefined };
}

function addPart(choice: ChoiceSoFar, { text, logprobs, finish_reason }: ChoicePart): void {
  choice.text += text;
  choice.finishReason = finish_reason ?? choice.finishReason;
  if (logprobs === null) return;
  choice.logprobs ??= { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] };
  choice.logprobs.tokens.push(...logprobs.tokens);
  choice.logprobs.token_logprobs.push(...logprobs.token_logprobs);
  choice.logprobs.top_logprobs.push(...logprobs.top_logprobs);
  choice.logprobs.text_offset.push(...logprobs.text_offset);
}

function toChoice(index: number, { text, logprobs, finishReason }: ChoiceSoFar): Choice {
  if (finishReason === undefined) throw invalidReply(`choice ${index} ended without a finish_reason`);
  return { index, text, logprobs, finish_reason: finishReason };
}
