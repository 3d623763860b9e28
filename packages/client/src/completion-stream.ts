// A streamed text completion: its chunks, its text, and the complete reply at the end.
import type { Completion, CompletionChunk, CompletionLogprobs } from "@ingle/protocol";

import { hasList, isRecord } from "./response-body.ts";
import { ChoiceStream, collectChoices, invalidReply } from "./choice-stream.ts";
import type { CompletionSoFar, Totals } from "./choice-stream.ts";

type Choice = Completion["choices"][number];
type ChoicePart = CompletionChunk["choices"][number];

/** A streamed text completion in the form of one that was not streamed. */
export interface StreamedTextCompletion extends Omit<Completion, "choices" | keyof Totals>, Totals {
  choices: [Choice, ...Choice[]];
}

interface ChoiceSoFar {
  text: string;
  logprobs: CompletionLogprobs | null;
  finishReason: Choice["finish_reason"] | undefined;
}

/** The chunks of a text completion. */
export class CompletionStream extends ChoiceStream<CompletionChunk, StreamedTextCompletion> {
  protected override readonly soFar = createTextSoFar();

  protected override textsOf({ choices }: CompletionChunk): readonly string[] {
    return choices.filter(({ index }) => index === 0).map(({ text }) => text);
  }

  protected override toEvent(data: unknown): CompletionChunk | undefined {
    return isChunk(data) ? data : undefined;
  }
}

function createTextSoFar(): CompletionSoFar<CompletionChunk, StreamedTextCompletion> {
  const collected = collectChoices({ start: emptyChoice, add: addPart, finish: toChoice });
  return {
    ...collected,
    completion: () => ({ ...collected.completion(), object: "text_completion" }),
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

function isChunk(value: unknown): value is CompletionChunk {
  return hasList(value, "choices") && value["choices"].every(isChoice);
}

function isChoice(value: unknown): boolean {
  return isRecord(value) && typeof value["index"] === "number" && typeof value["text"] === "string";
}
