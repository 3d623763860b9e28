// `client.responses`: a response, complete or as a stream of typed events.
import type { ResponseObject, ResponsesBody, ResponsesEvent } from "@ingle/protocol";

import { hasList, hasText, isRecord } from "./response-body.ts";
import { createReply } from "./calls.ts";
import type { CreateReply } from "./calls.ts";
import { StreamError } from "./errors.ts";
import { ReplyStream } from "./reply-stream.ts";
import type { CallOptions, Transport } from "./transport.ts";

/**
 * The events of a response; read, left and forwarded like a `ChatStream`. The last event is `response.completed` or
 * `response.incomplete`; an error within the stream is thrown as a `StreamError`.
 */
export class ResponseStream extends ReplyStream<ResponsesEvent> {
  #response: ResponseObject | undefined;

  /**
   * The text of the messages, piece by piece.
   * @throws IngleError if the stream is already being read.
   */
  async *texts(): AsyncGenerator<string, void, void> {
    for await (const event of this) if (event.type === "response.output_text.delta") yield event.delta;
  }

  /** The complete text of all messages. */
  async finalText(): Promise<string> {
    return outputText(await this.finalResponse());
  }

  /** The response, in the same form as without streaming. */
  async finalResponse(): Promise<ResponseObject> {
    await this.untilWhole();
    if (this.#response === undefined)
      throw new StreamError("the stream has no response", "stream_invalid", null);
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

/** The text of all messages of a response, without the reasoning. */
export function outputText({ output }: Pick<ResponseObject, "output">): string {
  return output
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map((part) => (part.type === "output_text" ? part.text : ""))
    .join("");
}

function isEvent(value: unknown): value is ResponsesEvent {
  if (!hasText(value, "type")) return false;
  return value["response"] === undefined || isRecord(value["response"]);
}

/** Send the whole conversation each time, or continue a response that the server has stored by its `previous_response_id`. */
export interface Responses {
  /** A response, complete or as a stream; `outputText()` returns the text of a complete one. */
  create: CreateReply<ResponsesBody, ResponseObject, ResponseStream>;
  /** `create` with `stream: true`. */
  stream(
    body: ResponsesBody & { stream?: true | null | undefined },
    options?: CallOptions,
  ): Promise<ResponseStream>;
}

const isResponse = (value: unknown): value is ResponseObject => hasList(value, "output");

export function createResponses(transport: Transport): Responses {
  const create: Responses["create"] = createReply(
    transport,
    "/v1/responses",
    isResponse,
    (open) => new ResponseStream(open),
  );
  return { create, stream: (body, options) => create({ ...body, stream: true }, options) };
}
