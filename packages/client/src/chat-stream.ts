// A streamed chat completion: its chunks, its text, and the whole reply at the end. Made by chat.ts.
import type { ChatCompletionChunk } from "@ingle/protocol";

import { isRecord } from "./answer.ts";
import { createReplySoFar } from "./chat-reply.ts";
import type { ReplyMessage, StreamedCompletion } from "./chat-reply.ts";
import { ReplyStream } from "./reply-stream.ts";

/**
 * The chunks of a chat completion; see `ReplyStream` for how it is read, left and passed on. The `final…` methods read the
 * reply to its end by themselves, or wait for the end when somebody else reads it: call them instead of a loop, beside it
 * or after it, but do not wait for them inside of it.
 */
export class ChatStream extends ReplyStream<ChatCompletionChunk> {
  readonly #reply = createReplySoFar();

  /**
   * Only the text of the first choice, piece by piece.
   * @throws IngleError when the stream is being read already.
   */
  async *texts(): AsyncGenerator<string, void, void> {
    for await (const { choices } of this) {
      for (const { index, delta } of choices) {
        if (index === 0 && (delta.content ?? "") !== "") yield delta.content ?? "";
      }
    }
  }

  /** The text of the first choice, whole. */
  async finalText(): Promise<string> {
    await this.untilWhole();
    return this.#reply.text();
  }

  /** The message of the first choice, with what was thought and the calls of tools. */
  async finalMessage(): Promise<ReplyMessage> {
    return (await this.finalCompletion()).choices[0].message;
  }

  /** Everything: all choices with their finish reasons and probabilities, usage and timings. */
  async finalCompletion(): Promise<StreamedCompletion> {
    await this.untilWhole();
    return this.#reply.completion();
  }

  protected override toEvent(data: unknown): ChatCompletionChunk | undefined {
    return isChunk(data) ? data : undefined;
  }

  protected override keep(chunk: ChatCompletionChunk): void {
    this.#reply.add(chunk);
  }
}

function isChunk(value: unknown): value is ChatCompletionChunk {
  return isRecord(value) && Array.isArray(value["choices"]) && value["choices"].every(isChoice);
}

function isChoice(value: unknown): boolean {
  return isRecord(value) && typeof value["index"] === "number" && isRecord(value["delta"]);
}
