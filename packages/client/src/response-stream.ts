// A streamed reply of /v1/responses: its events with their types, its text, and the whole response at the end. Made by
// responses.ts.
import type { ResponsesAnswer, ResponsesEvent } from "@ingle/protocol";

import { isRecord } from "./answer.ts";
import { invalidReply } from "./reply-parts.ts";
import { ReplyStream } from "./reply-stream.ts";

/**
 * The events of a response; read, left and passed on as a `ChatStream` is. The end of a response is an event of its own,
 * `response.completed` or `response.incomplete`; an error after the beginning is a `StreamError`.
 */
export class ResponseStream extends ReplyStream<ResponsesEvent> {
  #response: ResponsesAnswer | undefined;

  /**
   * Only the text of the messages, piece by piece.
   * @throws IngleError when the stream is being read already.
   */
  async *texts(): AsyncGenerator<string, void, void> {
    for await (const event of this) if (event.type === "response.output_text.delta") yield event.delta;
  }

  /** The text of all messages, whole. */
  async finalText(): Promise<string> {
    return outputText(await this.finalResponse());
  }

  /** The response, as the same request without a stream would have been answered. */
  async finalResponse(): Promise<ResponsesAnswer> {
    await this.untilWhole();
    if (this.#response === undefined) throw invalidReply("the stream held no response");
    return this.#response;
  }

  protected override toEvent(data: unknown): ResponsesEvent | undefined {
    return isEvent(data) ? data : undefined;
  }

  protected override keep(event: ResponsesEvent): void {
    if ("response" in event) this.#response = event.response;
  }

  /** These streams have no `[DONE]`. */
  protected override isLast({ type }: ResponsesEvent): boolean {
    return type === "response.completed" || type === "response.incomplete";
  }
}

/** The text of a response: of all its messages, without what was thought. */
export function outputText({ output }: Pick<ResponsesAnswer, "output">): string {
  return output
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map((part) => (part.type === "output_text" ? part.text : ""))
    .join("");
}

function isEvent(value: unknown): value is ResponsesEvent {
  if (!isRecord(value) || typeof value["type"] !== "string") return false;
  return value["response"] === undefined || isRecord(value["response"]);
}
