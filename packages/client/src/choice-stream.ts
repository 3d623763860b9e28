// The common part of streamed chat and text completions: choices are reassembled from their chunks, with usage and timings.
import type { ChatCompletionChunk, Timings, Usage } from "@ingle/protocol";

import { StreamError } from "./errors.ts";
import { ReplyStream } from "./reply-stream.ts";

/** Totals, which a stream has at its end or not at all. */
export interface Totals {
  /** Present if the request asked for it: `stream()` does, `create()` with `stream_options.include_usage`. */
  usage: Usage | undefined;
  /** With several choices, those of the slowest. `undefined` if the server does not send them. */
  timings: Timings | undefined;
}

type Head = Pick<ChatCompletionChunk, "id" | "created" | "model" | "system_fingerprint">;

interface Chunk<Part> extends Head {
  choices: readonly Part[];
  usage?: Usage | null | undefined;
  timings?: Partial<Timings> | undefined;
}

/** A completion that grows chunk by chunk. */
export interface CompletionSoFar<OneChunk, Completion> {
  add(chunk: OneChunk): void;
  /** The text of the first choice so far. */
  text(): string;
  /**
   * Everything so far as one completion.
   * @throws StreamError if a part is missing that every complete one has.
   */
  completion(): Completion;
}

/** How the choices of one endpoint are assembled. */
interface ChoiceParts<Part, SoFar, Choice> {
  start: () => SoFar;
  add: (choice: SoFar, part: Part) => void;
  finish: (index: number, choice: SoFar) => Choice;
}

export function collectChoices<Part extends { index: number }, SoFar extends { text: string }, Choice>({
  start,
  add,
  finish,
}: ChoiceParts<Part, SoFar, Choice>): CompletionSoFar<
  Chunk<Part>,
  Head & Totals & { choices: [Choice, ...Choice[]] }
> {
  const choices = new Map<number, SoFar>();
  const totals: Totals = { usage: undefined, timings: undefined };
  let head: Head | undefined;
  return {
    add(chunk) {
      head ??= chunk;
      addTotals(totals, chunk);
      for (const part of chunk.choices) add(findOrAdd(choices, part.index, start), part);
    },
    text: () => choices.get(0)?.text ?? "",
    completion() {
      const [first, ...others] = inOrder(choices).map(([index, choice]) => finish(index, choice));
      if (head === undefined || first === undefined) throw invalidReply("the stream has no choices");
      const { id, created, model, system_fingerprint } = head;
      return { id, created, model, system_fingerprint, choices: [first, ...others], ...totals };
    },
  };
}

function addTotals(totals: Totals, { usage, timings }: Pick<Chunk<unknown>, keyof Totals>): void {
  totals.usage = usage ?? totals.usage;
  if (areComplete(timings) && timings.predicted_ms >= (totals.timings?.predicted_ms ?? 0))
    totals.timings = timings;
}

/** Before the last chunk of a choice, `timings` may be partial. */
function areComplete(timings: Partial<Timings> | undefined): timings is Timings {
  return timings?.prompt_n !== undefined && timings.predicted_ms !== undefined;
}

/** The entry of a key, created if it is missing. */
export function findOrAdd<Value>(entries: Map<number, Value>, key: number, make: () => Value): Value {
  const found = entries.get(key);
  if (found !== undefined) return found;
  const made = make();
  entries.set(key, made);
  return made;
}

/** The entries sorted by key. */
export function inOrder<Value>(entries: ReadonlyMap<number, Value>): [number, Value][] {
  return [...entries].toSorted(([a], [b]) => a - b);
}

/** The error of a stream whose events do not form a valid reply. */
export function invalidReply(message: string): StreamError {
  return new StreamError(message, "stream_invalid", null);
}

/**
 * The chunks of a completion; see `ReplyStream` for reading, leaving and forwarding it. The `final…` methods read the stream
 * to its end themselves, or wait until another reader has: call them instead of a loop, beside it or after it, but do not
 * await them inside the loop.
 */
export abstract class ChoiceStream<OneChunk, Completion> extends ReplyStream<OneChunk> {
  protected abstract readonly soFar: CompletionSoFar<OneChunk, Completion>;

  /** The texts that a chunk adds to the first choice. */
  protected abstract textsOf(chunk: OneChunk): readonly string[];

  /**
   * The text of the first choice, piece by piece.
   * @throws IngleError if the stream is already being read.
   */
  async *texts(): AsyncGenerator<string, void, void> {
    for await (const chunk of this) for (const text of this.textsOf(chunk)) if (text !== "") yield text;
  }

  /** The complete text of the first choice. */
  async finalText(): Promise<string> {
    await this.untilWhole();
    return this.soFar.text();
  }

  /** Everything: all choices with their finish reasons and log probabilities, usage and timings. */
  async finalCompletion(): Promise<Completion> {
    await this.untilWhole();
    return this.soFar.completion();
  }

  protected override keep(chunk: OneChunk): void {
    this.soFar.add(chunk);
  }
}
