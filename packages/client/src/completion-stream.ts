// A streamed text completion: its chunks, its text, and the whole reply at the end. Made by completions.ts.
import type { CompletionChunk } from "@ingle/protocol";

import { isRecord } from "./answer.ts";
import { createTextReplySoFar } from "./completion-reply.ts";
import type { StreamedTextCompletion } from "./completion-reply.ts";
import { ReplyStream } from "./reply-stream.ts";

/** The chunks of a text completion; read, left and passed on as a `ChatStream` is. */
export class CompletionStream extends ReplyStream<CompletionChunk> {
  readonly #reply = createTextReplySoFar();

  /**
   * Only the text of the first choice, piece by piece.
   * @throws IngleError when the stream is being read already.
   */
  async *texts(): AsyncGenerator<string, void, void> {
    for await (const { choices } of this) {
      for (const { index, text } of choices) if (index === 0 && text !== "") yield text;
    }
  }

  /** The text of the first choice, whole. */
  async finalText(): Promise<string> {
    await this.untilWhole();
    return this.#reply.text();
  }

  /** Everything: all choices with their finish reasons and probabilities, usage and timings. */
  async finalCompletion(): Promise<StreamedTextCompletion> {
    await this.untilWhole();
    return this.#reply.completion();
  }

  protected override toEvent(data: unknown): CompletionChunk | undefined {
    return isChunk(data) ? data : undefined;
  }

  protected override keep(chunk: CompletionChunk): void {
    this.#reply.add(chunk);
  }
}

function isChunk(value: unknown): value is CompletionChunk {
  return isRecord(value) && Array.isArray(value["choices"]) && value["choices"].every(isChoice);
}

function isChoice(value: unknown): boolean {
  return isRecord(value) && typeof value["index"] === "number" && typeof value["text"] === "string";
}
